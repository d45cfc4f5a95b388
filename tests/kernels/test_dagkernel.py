"""Kernels over the paths of a graph, against enumeration of the paths."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import ParameterError
from mercer.gram.make import gram_of
from mercer.kernels import Kernel

X = np.random.default_rng(0).normal(size=(6, 3))
POOL: list[Kernel] = [
    kernels.Linear(),
    kernels.RBF(gamma=0.5),
    kernels.RBF(gamma=0.1),
    kernels.Linear() + 1.0,
    kernels.Polynomial(degree=2),
]


def coordinate(number: int) -> Kernel:
    return kernels.rank_one(lambda rows: rows[:, number])


def between(kernel: Kernel, x: list[float], z: list[float]) -> float:
    return float(kernel.fit([x])([x], [z])[0, 0])


def over_paths(edges: list[Any], rows: Any, columns: Any, node: Any = "s") -> Any:
    """The definition: walk every path from `node` to the sink."""
    if node == "t":
        return np.ones((len(rows), len(columns)))
    total = np.zeros((len(rows), len(columns)))
    for start, end, kernel in edges:
        if start == node:
            total += kernel.fit(rows)(rows, columns) * over_paths(edges, rows, columns, end)
    return total


def test_worked_example() -> None:
    arcs = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")]
    kernel = kernels.dag([(*arc, coordinate(number)) for number, arc in enumerate(arcs)])
    assert between(kernel, [1, 2, 3, 0.5, 4], [2, 1, -1, 2, 0.5]) == pytest.approx(-6.0, abs=1e-9)


def anova(n: int, degree: int) -> Kernel:
    """The grid (s, m): m features seen, s of them chosen."""
    one = kernels.Constant(1.0)
    edges: list[Any] = []
    for seen, chosen in itertools.product(range(n), range(degree + 1)):
        edges.append((f"{chosen},{seen}", f"{chosen},{seen + 1}", one))
        if chosen < degree:
            edges.append((f"{chosen},{seen}", f"{chosen + 1},{seen + 1}", coordinate(seen)))
    return kernels.dag(edges, source="0,0", sink=f"{degree},{n}")


def test_special_cases() -> None:
    x, z = [1.0, 2.0, 3.0, 4.0], [1.0, 1.0, 2.0, 0.5]
    assert [between(anova(4, degree), x, z) for degree in (1, 2, 3, 4)] == pytest.approx([11.0, 38.0, 52.0, 24.0])
    chain = [(k, k + 1, part) for k in range(4) for part in (kernels.Constant(1.0), coordinate(k))]
    assert between(kernels.dag(chain, source=0, sink=4), x, z) == pytest.approx(126.0)  # all subsets
    powers = kernels.dag([(k, k + 1, kernels.Linear()) for k in range(3)], source=0, sink=3)
    np.testing.assert_allclose(powers.fit(X)(X), (kernels.Linear() ** 3).fit(X)(X), rtol=1e-9)


@st.composite
def graphs(draw: Any) -> list[Any]:
    nodes = ["s", "a", "b", "c", "t"]
    pairs = list(itertools.combinations(nodes, 2))  # always forwards: no cycles
    arcs = draw(st.lists(st.sampled_from(pairs), min_size=1, max_size=9))
    arcs.append(draw(st.sampled_from([("s", "t"), ("s", "a")])))
    if arcs[-1] == ("s", "a"):
        arcs.append(("a", "t"))
    return [(*arc, draw(st.sampled_from(POOL))) for arc in draw(st.permutations(arcs))]


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_any_graph_equals_its_paths(edges: list[Any]) -> None:
    kernel = kernels.dag(edges)
    fitted = kernel.fit(X)
    np.testing.assert_allclose(fitted(X[:3], X), over_paths(edges, X[:3], X), rtol=1e-9, atol=1e-9)
    own = fitted.diagonal(fitted.features(fitted.coerce(X)))
    np.testing.assert_allclose(own, np.diagonal(over_paths(edges, X, X)), rtol=1e-9)
    assert kernels.parse(str(kernel)) == kernel
    assert kernel.psd


def test_each_measure_and_each_kernel_is_computed_once_per_tile(monkeypatch: pytest.MonkeyPatch) -> None:
    from mercer.kernels.vectors.distance import SquaredEuclidean
    from mercer.kernels.vectors.rbf import RBF

    calls = {"tile": 0, "pointwise": 0}
    for kind, name in ((SquaredEuclidean, "tile"), (RBF, "pointwise")):
        plain = getattr(kind, name)

        def counted(*rest: Any, plain: Any = plain, name: str = name) -> Any:
            calls[name] += 1
            return plain(*rest)

        monkeypatch.setattr(kind, name, counted)
    edges = [(k, k + 1, kernels.RBF(gamma=gamma)) for k in range(5) for gamma in (0.1, 0.2)]
    fitted = kernels.dag(edges, source=0, sink=5).fit(X)
    fitted(X, X)
    assert calls == {"tile": 1, "pointwise": 2}


def test_single_precision_tiles() -> None:
    fitted = next(iter(kernels.DagKernel.examples())).fit(X)
    exact = fitted(X)
    lengths = np.sqrt(np.outer(np.diagonal(exact), np.diagonal(exact)))
    assert (np.abs(gram_of(fitted, X, dtype=np.float32).dense() - exact) <= 1e-5 * lengths).all()


def test_edges_that_lead_nowhere_do_not_count() -> None:
    plain = [("s", "t", kernels.Linear())]
    astray = [*plain, ("s", "x", POOL[1]), ("y", "t", POOL[2]), ("t", "z", POOL[2]), ("w", "s", POOL[3])]
    np.testing.assert_allclose(kernels.dag(astray).fit(X)(X), kernels.dag(plain).fit(X)(X))


K = kernels.Linear()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: kernels.dag([("s", "a", K), ("a", "b", K), ("b", "a", K), ("b", "t", K)]),
            "'[ab]' -> '[ab]' -> '[ab]'",
        ),
        (lambda: kernels.dag([("s", "t", K), ("t", "t", K)]), "cycles, but there is one: 't' -> 't'"),
        (lambda: kernels.dag([("s", "a", K), ("t", "a", K)]), "no path from its source 's' to its sink 't'"),
        (lambda: kernels.dag([("a", "t", K)]), "'source' parameter of DagKernel must be one of the nodes 'a', 't'"),
        (lambda: kernels.dag([("s", "t", K)], source="t"), "no path"),
        (lambda: kernels.dag([]), "at least one kernel"),
        (lambda: kernels.dag(3), "triples"),  # type: ignore[arg-type]
        (lambda: kernels.dag([("s", "t")]), r"edges\[0\]"),  # type: ignore[list-item]
        (lambda: kernels.dag([("s", 1.5, K)]), "arcs"),  # type: ignore[list-item]
        (lambda: kernels.dag([("s", "t", 1.0)]), "at least one kernel"),  # type: ignore[list-item]
        (lambda: kernels.DagKernel((("s", "t"),), (K, K)), "one for each kernel"),
    ],
)
def test_bad_graphs_are_refused(make: Any, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()
