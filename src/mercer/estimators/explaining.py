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
from mercer.gram.weights import Weights
from mercer.inputs.base import Objects
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings
from mercer.kernels.base import FittedKernel
from mercer.kernels.featuremap import WeightTable
from mercer.kernels.vocabulary import Vocabulary

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


def weighed_explanations(
    fitted: FittedKernel, words: Vocabulary | None, weights: Weights, objects: Objects
) -> list[Explanation]:
    """Explain each object by the weights of its features, `words`, where they are counted."""
    if words is None or not isinstance(objects, Strings):
        raise KernelError(
            f"Weights of {fitted.kernel} cannot be taken apart by the parts of {objects.kind}: only kernels on strings "
            "(Spectrum, GappedKmer ...) have weights by position. SVC also explains decisions on graphs."
        )
    _refuse_without_places(fitted)
    return _of_table(WeightTable(fitted, words, weights.coef.T, weights.intercept), objects)


def _of_strings(expansion: Expansion, strings: Strings) -> list[Explanation]:
    _refuse_without_places(expansion.kernel)
    table = WeightTable.of(expansion.kernel, expansion.support, expansion.coefficients, expansion.intercept)
    return _of_table(table, strings)


def _of_table(table: WeightTable, strings: Strings) -> list[Explanation]:
    from mercer.kernels.strings.explain import explain

    return [Explanation(one.symbols, one.contributions, one.intercept, one.value) for one in explain(table, strings)]


def _refuse_without_places(fitted: FittedKernel) -> None:
    from mercer.kernels.strings.explain import can_explain

    if not can_explain(fitted.kernel):
        raise KernelError(
            f"Decisions of {fitted.kernel} cannot be taken apart by position: its features have no places that could "
            "be written down. Spectrum, BlendedSpectrum, Mismatch, GappedKmer, WeightedDegree and "
            "RestrictedGapWeighted can."
        )


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
