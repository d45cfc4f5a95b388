"""Counts of terms in documents, as scikit-learn reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Int64
from mercer.errors import InputTypeError
from mercer.inputs.hashing import symbol_of, text_of_symbol
from mercer.inputs.ragged import offsets_of
from mercer.inputs.strings import Strings

Analyse = Callable[[str], list[str]]
"""A function from a text to its terms."""
Terms = tuple[Int64, Float64]
"""The names of the terms of one document, each once, and their counts."""
Counted = tuple[Int64, Float64, Int64]
"""Names of terms, each once per document; their counts; and where each document begins."""


MOST_KEPT = 2**22
"""How many terms of documents are kept for the next call, in two generations: 64 MiB each. A search reads the same
documents dozens of times, for each kernel in each fold, and splitting them takes far longer than all kernel values."""


@final
class Kept:
    """Terms of documents that were read lately; of two generations, the older is forgotten when the younger is full.

    Threads may share it: the worst that a race can do is to read a document again.
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        self._most = most
        self._young: dict[Hashable, Terms] = {}
        self._old: dict[Hashable, Terms] = {}
        self._size = 0

    def get(self, key: Hashable) -> Terms | None:
        found = self._young.get(key)
        if found is None and (found := self._old.get(key)) is not None:
            self.put(key, found)
        return found

    def put(self, key: Hashable, terms: Terms) -> None:
        if self._size > self._most:
            self._old, self._young, self._size = self._young, {}, 0
        self._young[key] = terms
        self._size += len(terms[0])


_KEPT = Kept()


def count_terms(analyse: Analyse, documents: Strings, way: Hashable = None) -> Counted:
    """The terms of each document, named by their content, so that any two batches agree.

    `way` tells apart all that `analyse` may do with a text; None if that is unknown, such as for functions of users.
    """
    if not documents.of_characters:
        return _count_symbols(documents)
    known: dict[str, int] = {}
    parts: list[Terms] = []
    for number, text in enumerate(documents.tolist()):
        found = None if way is None else _KEPT.get((way, text))
        if found is None:
            try:
                found = _terms(Counter(analyse(text)), known)
            except Exception as error:
                raise InputTypeError(f"Document {number} could not be split into terms: {error!r}") from error
            if way is not None:
                _KEPT.put((way, text), found)
        parts.append(found)
    offsets = offsets_of(len(names) for names, _ in parts)
    names = np.concatenate([np.zeros(0, dtype=np.int64), *(names for names, _ in parts)])
    return names, np.concatenate([np.zeros(0), *(counts for _, counts in parts)]), offsets


def _terms(found: Counter[str], known: dict[str, int]) -> Terms:
    for term in found:
        if term not in known:
            known[term] = symbol_of(term)
    names = np.fromiter((known[term] for term in found), dtype=np.int64, count=len(found))
    return names, np.fromiter(found.values(), dtype=np.float64, count=len(found))


def terms_of(analyse: Analyse, documents: Strings) -> dict[int, str]:
    """The terms of these documents by name."""
    if not documents.of_characters:
        return {int(symbol): text_of_symbol(int(symbol)) for symbol in np.unique(documents.symbols)}
    return {symbol_of(term): term for text in documents.tolist() for term in analyse(text)}


def _count_symbols(documents: Strings) -> Counted:
    rows = np.repeat(np.arange(len(documents)), documents.lengths)
    pairs, counts = np.unique(np.column_stack([rows, documents.symbols]), axis=0, return_counts=True)
    pairs = pairs.reshape(-1, 2).astype(np.int64)
    return pairs[:, 1], counts.astype(np.float64), offsets_of(np.bincount(pairs[:, 0], minlength=len(documents)))


def kept_terms(
    frequencies: Any, totals: Float64, documents: int, least: float, most: float, count: int | None
) -> npt.NDArray[np.bool_]:
    """Which terms `min_df`, `max_df` and the limit on their number keep, as in scikit-learn."""
    low = least if isinstance(least, int) else least * documents
    high = most if isinstance(most, int) else most * documents
    keep: npt.NDArray[np.bool_] = (frequencies >= low) & (frequencies <= high)
    if count is not None and keep.sum() > count:
        order = np.argsort(-np.where(keep, totals, -1.0), kind="stable")
        keep = np.zeros_like(keep)
        keep[order[:count]] = True
    return keep
