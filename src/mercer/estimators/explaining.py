"""Why a machine decided as it did: the share of each part of an object in its decision value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from mercer.errors import KernelError
from mercer.estimators.kernelised import Kernelised
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings

Float64 = npt.NDArray[np.float64]


@final
@dataclass(frozen=True, eq=False)
class Explanation:
    """The parts of one object (symbols of a string, nodes of a graph) and what each adds to the decision value.

    `contributions` has one row per part and one column per output; with `intercept` its columns add up to `value`.
    """

    parts: tuple[Any, ...]
    contributions: Float64
    intercept: Float64
    value: Float64


class Explaining(Kernelised):
    """Machines that can take their decisions apart, for kernels that count parts of objects."""

    expansion_: Expansion

    def _decision_expansion(self) -> Expansion:
        """The expansion whose values `decision_function` or `predict` shows."""
        return self.expansion_

    def explain(self, X: Any) -> list[Explanation]:
        """What every symbol or node of each object adds to its decision value; with the intercept that is all of it.

        For kernels on strings and graphs that count features with a place (k-mers, neighbourhoods, paths), their sums,
        positive multiples and normalised forms; other kernels say that they have no such parts. Outputs are the
        columns of the decision function (for several classes of an `SVC`, one per pair).
        """
        check_is_fitted(self)
        return explanations(self._decision_expansion(), self._new_objects(X, self.expansion_.kernel))


def explanations(expansion: Expansion, objects: Objects) -> list[Explanation]:
    """Explain each object by the features that it shares with the support objects."""
    if isinstance(objects, Strings):
        return _of_strings(expansion, objects)
    if isinstance(objects, Graphs):
        return _of_graphs(expansion, objects)
    raise KernelError(
        f"Decisions of {expansion.kernel.kernel} cannot be taken apart: {objects.kind} have no parts that the kernel "
        "counts. Kernels on strings (Spectrum, GappedKmer ...) and graphs (WeisfeilerLehman, ShortestPath ...) can."
    )


def _of_strings(expansion: Expansion, strings: Strings) -> list[Explanation]:
    from mercer.kernels.featuremap import WeightTable
    from mercer.kernels.strings.explain import can_explain, explain

    if not can_explain(expansion.kernel.kernel):
        raise KernelError(
            f"Decisions of {expansion.kernel.kernel} cannot be taken apart by position: its features have no places "
            "that could be written down. Spectrum, BlendedSpectrum, GappedKmer and WeightedDegree can."
        )
    table = WeightTable.of(expansion.kernel, expansion.support, expansion.coefficients, expansion.intercept)
    return [Explanation(one.symbols, one.contributions, one.intercept, one.value) for one in explain(table, strings)]


def _of_graphs(expansion: Expansion, graphs: Graphs) -> list[Explanation]:
    from mercer.kernels.graphs.explanation import node_contributions

    columns = [
        node_contributions(expansion.kernel, expansion.support, coefficients, graphs)
        for coefficients in expansion.coefficients.T
    ]
    found = []
    for shares in zip(*columns, strict=True):
        contributions = np.column_stack(shares)
        value = contributions.sum(axis=0) + expansion.intercept
        found.append(Explanation(tuple(range(len(contributions))), contributions, expansion.intercept, value))
    return found
