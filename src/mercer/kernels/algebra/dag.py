"""Kernels that add up products over the paths of an acyclic graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any, final

import numpy as np

from mercer import _check
from mercer._cached import cached_property
from mercer._types import Float64, Floating
from mercer.errors import ParameterError
from mercer.kernels.algebra.several import PartFeatures, Several, check_terms
from mercer.kernels.base import Kernel, State
from mercer.kernels.text.form import text_of_value
from mercer.kernels.text.latex import words

Node = str | int
Step = tuple[Node, tuple[tuple[Node, int], ...]]
"""A node and its incoming edges: the origin and the term of each."""


@final
@dataclass(frozen=True)
class DagKernel(Several):
    """The sum over all paths from a source to a sink of the product of the kernels on their edges.

    ``k(x, z) = sum over paths p of prod over edges e of p of k_e(x, z)``, for a graph without cycles whose edges carry
    kernels; written ``kernels.dag(edges)`` with triples (from, to, kernel). `arcs` are the pairs (from, to), `terms`
    the kernels on them, one each; two nodes may be joined by several edges. Computed node by node,
    ``D(v) = sum over edges u -> v of k_uv D(u)``, in one pass over the edges.

    A chain of d equal edges is the power d, two parallel edges the sum; a grid gives the ANOVA kernel.

    >>> from mercer import kernels
    >>> linear, gaussian = kernels.Linear(), kernels.RBF(gamma=1.0)
    >>> edges = [("s", "a", linear), ("a", "t", linear), ("s", "t", gaussian)]
    >>> kernels.dag(edges).fit([[2.0]])([[2.0]])  # linear**2 + gaussian
    array([[17.]])
    """

    arcs: tuple[tuple[Node, Node], ...]
    terms: tuple[Kernel, ...]
    source: Node = "s"
    sink: Node = "t"

    reason = "it is a sum of products of the kernels on the edges"

    def __post_init__(self) -> None:
        check_terms("DagKernel", self.terms, least=1)
        rule = "a tuple of pairs (from, to) of names, one for each kernel"
        ok = isinstance(self.arcs, tuple) and len(self.arcs) == len(self.terms)
        if not ok or not all(isinstance(arc, tuple) and len(arc) == 2 and all(map(_is_node, arc)) for arc in self.arcs):
            raise _check.fail("DagKernel", "arcs", rule, self.arcs)
        for name in ("source", "sink"):
            nodes = {node for arc in self.arcs for node in arc}
            if getattr(self, name) not in nodes:
                listed = ", ".join(sorted(map(repr, nodes)))
                raise _check.fail("DagKernel", name, f"one of the nodes {listed}", getattr(self, name))
        if not any(node == self.sink for node, _ in self._plan):
            raise ParameterError(
                f"DagKernel has no path from its source {self.source!r} to its sink {self.sink!r}, so its value would "
                "be 0 everywhere. Check the direction of the edges: each is (from, to, kernel)."
            )

    @cached_property
    def _plan(self) -> tuple[Step, ...]:
        """The nodes on paths from source to sink, each after all that lead to it, with the edges into it."""
        into: dict[Node, list[tuple[Node, int]]] = {node: [] for arc in self.arcs for node in arc}
        for number, (start, end) in enumerate(self.arcs):
            into[end].append((start, number))
        order = _topological(self.arcs)
        useful = _on_paths(order, into, self.source, self.sink)
        steps = ((node, tuple(edge for edge in into[node] if edge[0] in useful)) for node in order if node in useful)
        return tuple((node, edges) for node, edges in steps if edges and node != self.source)

    @cached_property
    def _places(self) -> dict[int, int]:
        """Which group each term belongs to."""
        return {number: place for place, (_, numbers) in enumerate(self.groups) for number in numbers}

    def tile(self, left: PartFeatures, right: PartFeatures, state: State, out: Floating) -> None:
        shared = list(self.shared(state))

        def measured(place: int) -> Floating:
            measure, own, _ = shared[place]
            values = np.empty_like(out)
            measure.tile(left.parts[place], right.parts[place], own, values)
            return values

        out[...] = self._over_paths(measured, state)

    def diagonal(self, features: PartFeatures, state: State) -> Float64:
        shared = list(self.shared(state))

        def measured(place: int) -> Floating:
            measure, own, _ = shared[place]
            return measure.diagonal(features.parts[place], own).reshape(1, -1).copy()

        return np.asarray(self._over_paths(measured, state)[0])

    def _over_paths(self, measured: Callable[[int], Floating], state: State) -> Floating:
        """Dynamic programming over nodes; `measured` gives the values of a measure. Unneeded values are dropped."""
        edges = [edge for _, into in self._plan for edge in into]
        visits = Counter(start for start, _ in edges)
        value = self._values_of_terms([number for _, number in edges], measured, state)
        totals: dict[Node, Floating] = {}
        with np.errstate(over="ignore", invalid="ignore"):
            for node, into in self._plan:
                for start, number in into:
                    step = value(number) if start == self.source else value(number) * totals[start]
                    totals[node] = totals[node] + step if node in totals else step
                    visits[start] -= 1
                    if not visits[start]:
                        totals.pop(start, None)
        return totals[self.sink]

    def _values_of_terms(
        self, asked: list[int], measured: Callable[[int], Floating], state: State
    ) -> Callable[[int], Floating]:
        """A function for the values of terms; each is computed once and dropped after its last use in `asked`."""
        uses = Counter(self.terms[number] for number in asked)
        unborn = Counter(self._places[number] for number in {self.terms.index(term) for term in uses})
        bases: dict[int, Floating] = {}
        values: dict[Kernel, Floating] = {}

        def value(number: int) -> Floating:
            term = self.terms[number]
            if term not in values:
                place = self._places[number]
                if place not in bases:
                    bases[place] = measured(place)
                unborn[place] -= 1
                values[term] = bases[place].copy() if unborn[place] else bases.pop(place)
                term.pointwise(values[term], state.parts[number])
            uses[term] -= 1
            return values[term] if uses[term] else values.pop(term)

        return value

    def latex(self, x: str = "x", z: str = "z") -> str:
        ends = rf"{words(str(self.source))} \to {words(str(self.sink))}"
        return rf"\sum_{{p \colon {ends}}} \prod_{{e \in p}} k_e({x}, {z})"

    def __str__(self) -> str:
        edges = text_of_value([(*arc, term) for arc, term in zip(self.arcs, self.terms, strict=True)])
        ends = "" if (self.source, self.sink) == ("s", "t") else f", source={self.source!r}, sink={self.sink!r}"
        return f"dag({edges}{ends})"


def dag(edges: Iterable[tuple[Node, Node, Kernel]], source: Node = "s", sink: Node = "t") -> DagKernel:
    """The kernel of a graph given by triples (from, to, kernel): `DagKernel`."""
    listed: list[Any] = list(_check.instance("dag", "edges", edges, Iterable, "a list of triples (from, to, kernel)"))
    for number, edge in enumerate(listed):
        if not isinstance(edge, tuple | list) or len(edge) != 3:
            raise _check.fail("dag", f"edges[{number}]", "a triple (from, to, kernel)", edge)
    return DagKernel(tuple((edge[0], edge[1]) for edge in listed), tuple(edge[2] for edge in listed), source, sink)


def _is_node(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _topological(arcs: tuple[tuple[Node, Node], ...]) -> list[Node]:
    """The nodes, each after all that lead to it; a cycle is refused by name."""
    sorter: TopologicalSorter[Node] = TopologicalSorter()
    for start, end in arcs:
        sorter.add(end, start)
    try:
        return list(sorter.static_order())
    except CycleError as error:
        cycle = " -> ".join(map(repr, error.args[1]))
        raise ParameterError(f"DagKernel needs a graph without cycles, but there is one: {cycle}.") from error


def _on_paths(order: list[Node], into: dict[Node, list[tuple[Node, int]]], source: Node, sink: Node) -> set[Node]:
    """The nodes between source and sink, from an order in which edges lead forward."""
    after, before = {source}, {sink}
    for node in order:
        if any(start in after for start, _ in into[node]):
            after.add(node)
    for node in reversed(order):
        if node in before:
            before.update(start for start, _ in into[node])
    return after & before
