"""The worked examples of the kernels on graphs."""

import networkx as nx
import numpy as np
import pytest

from mercer import kernels
from mercer.errors import InputError
from mercer.kernels.graphs.graphlet import scaled
from tests.kernels.graphs.samples import C3, C4, C5, P3, P4, P4L, P5, PAW, S4, S4L


def value(kernel, a, b):
    return float(kernel.fit([a, b])([a], [b])[0, 0])


def cosine(kernel, a, b):
    return value(kernels.normalise(kernel), a, b)


@pytest.mark.parametrize(
    ("a", "b", "rounds"),
    [
        (P4, S4, (16, 6, 0)),
        (P4, P4, (16, 8, 8)),
        (S4, S4, (16, 10, 10)),
        (P4L, S4L, (8, 1, 0)),
        (C3, C4, (12, 12, 12)),
    ],
)
def test_weisfeiler_lehman(a, b, rounds):
    for h in range(3):
        assert value(kernels.WeisfeilerLehman(h=h), a, b) == sum(rounds[: h + 1])
        over = kernels.WeisfeilerLehmanOver(kernels.VertexHistogram(), h=h)
        assert value(over, a, b) == sum(rounds[: h + 1])


def test_weisfeiler_lehman_cosines():
    assert cosine(kernels.WeisfeilerLehman(h=2), P4, S4) == pytest.approx(0.6481812161, abs=1e-9)
    assert cosine(kernels.WeisfeilerLehman(h=2), P4L, S4L) == pytest.approx(0.5031152949, abs=1e-9)


@pytest.mark.parametrize(("a", "b", "expected"), [(P4, S4, 6), (P4L, S4L, 5), (P3, P4, 8), (S4, S4, 12), (P4, P4, 12)])
def test_optimal_assignment(a, b, expected):
    assert value(kernels.WeisfeilerLehmanOptimalAssignment(h=2), a, b) == expected


@pytest.mark.parametrize(("a", "b", "expected"), [(P3, C3, 6), (P4, S4, 15), (P4, P4, 14), (P4, C4, 16), (P4L, S4L, 7)])
def test_shortest_path(a, b, expected):
    assert value(kernels.ShortestPath(), a, b) == expected


def test_shortest_path_cosine():
    assert cosine(kernels.ShortestPath(), P4, S4) == pytest.approx(0.9449111825, abs=1e-9)


def test_graphlet_counts_of_size_3():
    from mercer.inputs.graphs import Graphs

    found = kernels.Graphlet(size=3).histograms(Graphs.coerce([P4, PAW, S4, C4]))
    assert found.tolist() == [[0, 2, 2, 0], [0, 1, 2, 1], [1, 0, 3, 0], [0, 0, 4, 0]]


@pytest.mark.parametrize(
    ("kernel", "a", "b", "expected"),
    [
        (kernels.Graphlet(size=3), P4, PAW, 0.8660254038),
        (kernels.Graphlet(size=3), S4, C4, 0.9486832981),
        (kernels.Graphlet(size=3), P4, S4, 0.6708203932),
        (kernels.Graphlet(size=3, scaling="count"), P4, PAW, 6.0),
        (kernels.Graphlet(size=3, scaling="frequency"), P4, PAW, 0.375),
        (kernels.Graphlet(size=4), C5, P5, 0.6666666667),
    ],
)
def test_graphlet(kernel, a, b, expected):
    assert value(kernel, a, b) == pytest.approx(expected, abs=1e-9)


def test_graphlet_slide():
    slide = np.array([[15, 17, 1, 85, 9, 4, 3, 5, 7, 2, 99.0]])
    printed = [0.06, 0.07, 0, 0.34, 0.04, 0.02, 0.01, 0.02, 0.03, 0.01, 0.40]
    assert np.allclose(scaled(slide, "frequency")[0].round(2), printed)


@pytest.mark.parametrize(
    ("kernel", "a", "b", "expected"),
    [
        (kernels.RandomWalk(decay=0.1), P3, C3, 285 / 23),
        (kernels.RandomWalk(decay=0.1, uniform=True), P3, C3, 0.1529790660),
        (kernels.RandomWalk(decay=0.1, series="exponential"), P3, C3, 11.7945346532),
        (kernels.RandomWalk(decay=0.1, steps=2), P3, C3, 12.12),
        (kernels.RandomWalk(decay=0.1), P4L, S4L, 8.9644902635),
    ],
)
def test_random_walk(kernel, a, b, expected):
    assert value(kernel, a, b) == pytest.approx(expected, abs=1e-9)


def test_random_walk_matches_by_steps():
    sums = [value(kernels.RandomWalk(decay=1.0, steps=j), P3, C3) for j in range(5)]
    assert np.allclose(np.diff([0, *sums]), [9, 24, 72, 192, 576])


def test_random_walk_beyond_the_bound():
    with pytest.raises(ValueError, match=r"graph 0 has spectral radius 2, so decay must be below 0\.25"):
        kernels.RandomWalk(decay=0.3).fit([C3])
    fitted = kernels.RandomWalk(decay=0.2).fit([C3])
    with pytest.raises(ValueError, match=r"graph 1 has spectral radius 3, so decay must be below 0\.111"):
        fitted([C3, nx.complete_graph(4)], [C3])


PATH = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (kernels.VonNeumannDiffusion(PATH, decay=0.5), {(0, 0): 1.5, (0, 1): 1, (0, 2): 0.5, (1, 1): 2}),
        (
            kernels.ExponentialDiffusion(PATH, decay=0.5),
            {(0, 0): 1.1302959183, (0, 1): 0.5427208206, (0, 2): 0.1302959183, (1, 1): 1.2605918365},
        ),
        (kernels.Heat(PATH, time=1.0), {(0, 0): 0.5255708986, (0, 1): 0.3167376439, (0, 2): 0.1576914575}),
    ],
)
def test_diffusion(kernel, expected):
    found = kernel.fit([0, 1, 2])([0, 1, 2])
    for place, entry in expected.items():
        assert found[place] == pytest.approx(entry, abs=1e-9)


def test_von_neumann_beyond_the_bound():
    with pytest.raises(ValueError, match=r"a float in \[0, 0\.707107\)"):
        kernels.VonNeumannDiffusion(PATH, decay=0.8)


def test_graphs_without_labels_are_told_from_those_with_labels():
    plain, labelled = [[(0, 1)]], [{"edges": [(0, 1)], "labels": ["C", "O"]}]
    for known, new, message in (
        (labelled, plain, "These graphs have no labels on their nodes"),
        (plain, labelled, "These graphs have labels on their nodes"),
    ):
        with pytest.raises(InputError, match=message):
            kernels.WeisfeilerLehman(1).fit(known)(new)


@pytest.mark.parametrize("h", [0, 1, 3])
@pytest.mark.parametrize(("decay", "precise"), [(0.1, True), (1e20, False)])
def test_rounds_over_another_kernel_share_its_tiles_and_need_its_digits(h, decay, precise):
    base = kernels.RandomWalk(decay=decay, steps=3)
    over = kernels.WeisfeilerLehmanOver(base, h=h).fit([P4, S4, C5])
    features = over.features(over.coerce([P4, S4, C5]))
    rounds = list(zip(features.parts, over.state.parts, strict=True))
    entries = min(base.tile_entries(part, part, own) for part, own in rounds)
    assert 0 < (h + 1) * over.tile_entries(features, features) <= entries  # a tile takes as long, whatever h is
    assert over.kernel.single_precision(features, over.state) == precise
