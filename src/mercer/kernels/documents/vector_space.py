"""The vector space kernel on documents."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._record import boolean, choice, integer
from mercer._types import DType, Float64, Indices, Int64
from mercer.errors import InputError, KernelWarning
from mercer.inputs.base import shown
from mercer.inputs.hashing import symbol_of
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.documents.terms import Analyse, count_terms, kept_terms, terms_of
from mercer.kernels.features.counting import Counting
from mercer.kernels.features.counts import CountFeatures
from mercer.kernels.features.occurrences import Spelling


@final
@dataclass(frozen=True)
class VectorSpace(Counting):
    """The vector space kernel: k(d, e) = sum over terms t of w(t)^2 tf(t, d) tf(t, e), with tf(t, d) a count.

    With `weighting` ``"tf"``, w = 1. With ``"tf-idf"``, w(t) = ln(l / df(t)), where l and df count the training
    documents, and terms not seen in training have weight 0. ``"smooth-tf-idf"`` is scikit-learn's weight, w(t) = ln((1
    + l) / (1 + df(t))) + 1, which is never 0. With a term-`proximity` matrix P, which has a row for each of `terms`, it
    is phi(d) P P' phi(e)' over the weighted counts phi.

    scikit-learn's `CountVectorizer` reads the text: `lowercase`, `analyzer` (``"word"``, ``"char"``, ``"char_wb"``),
    `ngrams` (shortest, longest), `stop_words` (``"english"`` or a list), and `min_df`, `max_df`, `max_terms`, which
    drop terms by how many training documents have them. Your own `tokenizer`, a function from a text to its list of
    tokens, replaces scikit-learn's. Documents that are lists of tokens are used as they are. A document without terms
    has the value 0 with any other. Use `kernels.normalise` to remove the effect of length.

    >>> from mercer import kernels
    >>> documents = ["cat sat cat", "cat mat", "dog sat"]
    >>> kernels.VectorSpace().fit(documents)(documents)
    array([[5., 2., 1.],
           [2., 2., 0.],
           [1., 0., 2.]])
    """

    weighting: str = choice("tf", "tf-idf", "smooth-tf-idf")
    lowercase: bool = boolean(True)
    analyzer: str = choice("word", "char", "char_wb")
    ngrams: tuple[int, int] = (1, 1)
    stop_words: str | tuple[str, ...] | None = None
    min_df: int | float = 1
    max_df: int | float = 1.0
    max_terms: int | None = integer(None, low=1)
    tokenizer: Callable[[str], Any] | None = None
    terms: tuple[str, ...] | None = None
    proximity: Any = None

    domain = Strings
    variants = (
        {},
        {"weighting": "tf-idf"},
        {"weighting": "smooth-tf-idf"},
        {"analyzer": "char_wb", "ngrams": (2, 3), "max_df": 0.9},
        {"terms": ("cat", "dog", "mat"), "proximity": np.array([[1.0, 0.2], [1.0, 0.1], [0.0, 1.0]])},
    )

    def __post_init__(self) -> None:
        owner = "VectorSpace"
        object.__setattr__(self, "ngrams", _range(owner, "ngrams", self.ngrams))
        if isinstance(self.stop_words, str):
            _check.choice(owner, "stop_words", self.stop_words, ("english",), "Or give a list of words.")
        elif self.stop_words is not None:
            object.__setattr__(self, "stop_words", _words(owner, "stop_words", self.stop_words))
        if self.terms is not None:
            object.__setattr__(self, "terms", _words(owner, "terms", self.terms))
        for name in ("min_df", "max_df"):
            value = getattr(self, name)
            if isinstance(value, float):
                _check.real(owner, name, value, low=0, high=1)
            else:
                _check.integer(owner, name, value, low=1)
        if self.tokenizer is not None and not callable(self.tokenizer):
            raise _check.fail(owner, "tokenizer", "a function from a text to a list of tokens", self.tokenizer)
        if self.proximity is not None:
            object.__setattr__(self, "proximity", _matrix(owner, self.proximity, self.terms))
        super().__post_init__()

    @property
    def _pruned(self) -> bool:
        return (self.min_df, self.max_df, self.max_terms) != (1, 1.0, None)

    @property
    def data_dependent(self) -> bool:
        return self.weighting != "tf" or self._pruned

    def _analyser(self) -> Analyse:
        """The function from a text to its terms."""
        from sklearn.feature_extraction.text import CountVectorizer

        reader = CountVectorizer(
            lowercase=self.lowercase,
            analyzer=self.analyzer,
            ngram_range=self.ngrams,
            stop_words=list(self.stop_words) if isinstance(self.stop_words, tuple) else self.stop_words,
            tokenizer=self.tokenizer,
            token_pattern=None if self.tokenizer is not None else r"(?u)\b\w\w+\b",
        )
        analyse: Analyse = reader.build_analyzer()
        return analyse

    @property
    def _way(self) -> tuple[Any, ...] | None:
        """What tells apart how documents are split; None for functions of users, which may do anything."""
        return None if self.tokenizer is not None else (self.lowercase, self.analyzer, self.ngrams, self.stop_words)

    def resolve(self, objects: Strings) -> State:
        names, counts, offsets = count_terms(self._analyser(), objects, self._way)
        self._warn_of_empty(objects, names, offsets)
        if self.data_dependent:
            return self._learnt(names, counts, len(objects))
        if self.terms is None:
            return State()
        return State({"terms": np.sort(self._listed), "weights": np.ones(len(self.terms))})

    def _warn_of_empty(self, objects: Strings, names: Int64, offsets: Int64) -> None:
        empty = int((np.diff(offsets) == 0).sum())
        if empty == len(objects):
            self._refuse_stop_words(objects)
            if self.data_dependent:
                raise InputError(f"None of the {empty} documents has a term: they are empty, or contain no words.")
        if self.terms is not None and not self.data_dependent:
            rows = np.repeat(np.arange(len(objects)), np.diff(offsets))
            empty = len(objects) - len(np.unique(rows[np.isin(names, self._listed)]))
        if empty:
            warnings.warn(
                f"{empty} of {len(objects)} documents have no term{' of the list' if self.terms else ''}: their "
                "kernel value with any document is 0.",
                KernelWarning,
                stacklevel=5,
            )

    def _learnt(self, names: Int64, counts: Float64, documents: int) -> State:
        """The terms that are kept, and their weights, learnt from the training documents."""
        known, frequencies = np.unique(names, return_counts=True)  # a term is named once in each document
        keep = np.ones(len(known), dtype=bool)
        if self._pruned:
            totals = np.zeros(len(known))
            np.add.at(totals, np.searchsorted(known, names), counts)
            keep = kept_terms(frequencies, totals, documents, self.min_df, self.max_df, self.max_terms)
        if self.terms is not None:
            keep &= np.isin(known, self._listed)
        if not keep.any():
            raise InputError(
                f"No term is left of the {len(known)} in {documents} documents: min_df={self.min_df}, "
                f"max_df={self.max_df} and the list of terms drop them all. Loosen them."
            )
        return State({"terms": known[keep], "weights": self._weights(frequencies[keep], documents)})

    def _weights(self, frequencies: Indices, documents: int) -> Float64:
        if self.weighting == "tf-idf":
            return np.asarray(np.log(documents / frequencies))
        if self.weighting == "smooth-tf-idf":
            return np.asarray(np.log((1.0 + documents) / (1.0 + frequencies)) + 1.0)
        return np.ones(len(frequencies))

    @property
    def _listed(self) -> Int64:
        """The names of the terms that are listed, in their order."""
        return np.asarray([symbol_of(term) for term in self.terms or ()], dtype=np.int64)

    def _refuse_stop_words(self, objects: Strings) -> None:
        """Raise an error if stop words are the reason why no document has a term."""
        if self.stop_words is None or not objects.of_characters:
            return
        _, _, offsets = count_terms(replace(self, stop_words=None)._analyser(), objects, None)
        if offsets[-1]:
            raise InputError(
                f"No term is left of the {len(objects)} documents: stop_words={shown(self.stop_words)} drop them all. "
                "Take words off that list."
            )

    def counts(self, objects: Strings, state: State, dtype: DType) -> CountFeatures:
        names, counts, offsets = count_terms(self._analyser(), objects, self._way)
        if "terms" in state.values:
            known, weights = state.values["terms"], state.values["weights"]
            place = np.minimum(np.searchsorted(known, names), len(known) - 1)
            counts = np.where(known[place] == names, counts * weights[place], 0.0)
        rows = np.repeat(np.arange(len(objects)), np.diff(offsets))
        if self.proximity is not None and self.terms is not None:
            return self._near(names, counts, rows, len(objects), dtype)
        kept = counts != 0.0
        offsets = np.append(0, np.cumsum(np.bincount(rows[kept], minlength=len(objects)))).astype(np.int64)
        return CountFeatures.of(names[kept].astype(np.uint64), offsets, dtype, counts[kept])

    def spelling(self, objects: Strings, state: State) -> Iterator[Spelling]:
        if self.proximity is not None:
            return
        for number in range(len(objects)):
            terms = terms_of(self._analyser(), objects.take(slice(number, number + 1)))
            yield np.asarray(list(terms), dtype=np.uint64), list(terms.values()).__getitem__

    def _near(self, names: Int64, counts: Float64, rows: Any, documents: int, dtype: DType) -> CountFeatures:
        import scipy.sparse as sp

        listed = self._listed
        order = np.argsort(listed)
        place = np.minimum(np.searchsorted(listed[order], names), len(listed) - 1)
        known = listed[order][place] == names
        shape = (documents, len(listed))
        matrix = sp.csr_array((counts[known], (rows[known], order[place[known]])), shape=shape)
        values = np.asarray(matrix @ self.proximity)
        width = values.shape[1]
        numbers = np.tile(np.arange(width, dtype=np.uint64), documents)
        return CountFeatures.of(numbers, width * np.arange(documents + 1), dtype, values.ravel())


def _range(owner: str, name: str, value: Any) -> tuple[int, int]:
    rule = "two ints, the shortest and the longest n-gram, 1 <= shortest <= longest"
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise _check.fail(owner, name, rule, value)
    low, high = (_check.integer(owner, name, size, low=1) for size in value)
    if low > high:
        raise _check.fail(owner, name, rule, value)
    return low, high


def _words(owner: str, name: str, value: Any) -> tuple[str, ...]:
    rule = "a list of different strings"
    if isinstance(value, str):
        raise _check.fail(owner, name, rule, value)
    try:
        words = tuple(value)
    except TypeError:
        raise _check.fail(owner, name, rule, value) from None
    if not words or len(set(words)) != len(words) or not all(isinstance(word, str) for word in words):
        raise _check.fail(owner, name, rule, value)
    return words


def _matrix(owner: str, value: Any, terms: Any) -> Float64:
    if terms is None:
        raise _check.fail(owner, "terms", "given with a proximity matrix: its terms, in the order of the rows", terms)
    rule = f"a matrix of finite numbers with {len(terms)} rows, one for each of the terms"
    try:
        matrix = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise _check.fail(owner, "proximity", rule, value) from None
    if matrix.ndim != 2 or len(matrix) != len(terms) or not matrix.shape[1] or not np.isfinite(matrix).all():
        raise _check.fail(owner, "proximity", rule, value)
    return matrix
