"""Counts of terms in documents, as scikit-learn reads them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer._types import Float64, Int64
from mercer.errors import InputTypeError
from mercer.inputs.hashing import symbol_of, text_of_symbol
from mercer.inputs.ragged import offsets_of
from mercer.inputs.strings import Strings

Analyse = Callable[[str], list[str]]
"""A function from a text to its terms."""
Counted = tuple[Int64, Float64, Int64]
"""Names of terms, each once per document; their counts; and where each document begins."""


def count_terms(analyse: Analyse, documents: Strings) -> Counted:
    """The terms of each document, named by their content, so that any two batches agree."""
    if not documents.of_characters:
        return _count_symbols(documents)
    known: dict[str, int] = {}
    names: list[int] = []
    counts: list[int] = []
    lengths: list[int] = []
    for number, text in enumerate(documents.tolist()):
        try:
            found = Counter(analyse(text))
        except Exception as error:
            raise InputTypeError(f"Document {number} could not be split into terms: {error!r}") from error
        for term, count in found.items():
            if term not in known:
                known[term] = symbol_of(term)
            names.append(known[term])
            counts.append(count)
        lengths.append(len(found))
    return np.asarray(names, dtype=np.int64), np.asarray(counts, dtype=np.float64), offsets_of(lengths)


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
