"""Which positions of a string speak for a decision, and which words a model looks for.

For a kernel with a feature map the decision value is a sum over features, f(x) = sum phi(x) weight + intercept, and
every feature of a string stands somewhere in it. The contribution of each occurrence is shared equally over the
positions of its symbols, so that positions and intercept add up to the decision value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._types import Float64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.strings import Strings
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.algebra.sums import Scaled, Sum
from mercer.kernels.base import FittedKernel, Kernel, State
from mercer.kernels.features.counting import HasFeatureMap
from mercer.kernels.features.feature_map import WeightTable
from mercer.kernels.strings.base import StringKernel
from mercer.kernels.strings.occurrences import Occurrences, occurrences

Names = npt.NDArray[np.uint64]


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The contribution of every symbol of one string, per output; with `intercept` they add up to `value`."""

    symbols: tuple[Any, ...]
    contributions: Float64
    intercept: Float64
    value: Float64


@final
@dataclass(frozen=True, eq=False)
class Word:
    """A word of a model: its symbols (None where any symbol will do), and its weight per output."""

    symbols: tuple[Any, ...]
    weights: Float64


def can_explain(kernel: Kernel) -> bool:
    """Whether `explain` understands this kernel."""
    if isinstance(kernel, Sum):
        return all(can_explain(term) for term in kernel.terms)
    if isinstance(kernel, Scaled | Normalised):
        return can_explain(kernel.kernel)
    return isinstance(kernel, StringKernel) and isinstance(kernel, HasFeatureMap) and Occurrences.known(kernel)


def explain(table: WeightTable, raw: Any) -> list[Explanation]:
    """Explain the decision on each of these strings."""
    _refuse_unknown(table.fitted.kernel)
    objects = raw if isinstance(raw, Objects) else table.fitted.coerce(raw)
    assert isinstance(objects, Strings)
    return [_explained(table, objects.take(slice(i, i + 1))) for i in range(len(objects))]


def _explained(table: WeightTable, one: Strings) -> Explanation:
    spread: Float64 | None = None
    symbols: tuple[Any, ...] = ()
    for found, scale in _parts(table.fitted.kernel, table.fitted.state, one):
        if spread is None:
            symbols, spread = found.symbols, np.zeros((len(found.symbols), table.weights.shape[1]))
        if len(found.symbols) != len(spread):
            raise KernelError("The terms of this sum cut strings into different symbols, so their positions differ.")
        amounts = scale * found.values[:, None] * table.of_names(found.names)
        for place in range(found.positions.shape[1]):
            np.add.at(
                spread, found.positions[:, place], amounts / found.sizes[:, None] * (found.sizes > place)[:, None]
            )
    assert spread is not None
    return Explanation(symbols, spread, table.intercept, spread.sum(axis=0) + table.intercept)


def strongest_words(table: WeightTable, support: Objects, count: int = 10, output: int = 0) -> list[Word]:
    """The words of the support objects with the largest weights, in absolute value."""
    _refuse_unknown(table.fitted.kernel)
    assert isinstance(support, Strings)
    weights = np.abs(table.weights[:, output])
    chosen = table.names[np.argsort(-weights, kind="stable")[:count]]
    words: dict[int, Word] = {}
    for i in range(len(support)):
        for found, _ in _parts(table.fitted.kernel, table.fitted.state, support.take(slice(i, i + 1))):
            for k in np.flatnonzero(np.isin(found.names, chosen)):
                name = int(found.names[k])
                if name not in words:
                    words[name] = Word(found.word(int(k)), table.of_names(found.names[k : k + 1])[0])
        if len(words) == len(chosen):
            break
    return [words[int(name)] for name in chosen if int(name) in words]


def _parts(kernel: Kernel, state: State, one: Strings) -> Iterator[tuple[Occurrences, float]]:
    """The occurrences of the features of one string, term by term, each with the factor on its values."""
    if isinstance(kernel, Sum):
        for number, (term, own) in enumerate(zip(kernel.terms, state.parts, strict=True)):
            for found, scale in _parts(term, own, one):
                yield found.renamed(number), scale
    elif isinstance(kernel, Scaled):
        for found, scale in _parts(kernel.kernel, state.parts[0], one):
            yield found, scale * float(np.sqrt(kernel.factor))
    elif isinstance(kernel, Normalised):
        inner = FittedKernel(kernel.kernel, state.parts[0])
        norm = float(np.sqrt(inner.diagonal(inner.features(one))[0]))
        for found, scale in _parts(kernel.kernel, state.parts[0], one):
            yield found, scale / norm if norm else 0.0
    else:
        yield occurrences(kernel, one), 1.0


def _refuse_unknown(kernel: Kernel) -> None:
    if not can_explain(kernel):
        raise KernelError(
            f"{kernel} cannot be explained position by position: its features have no places that could be "
            "written down. Spectrum, BlendedSpectrum, Mismatch, GappedKmer, WeightedDegree and RestrictedGapWeighted, "
            "their sums and their normalised forms can."
        )
