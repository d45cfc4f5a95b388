"""Contributions of a pair add up to k(x, z) for every kernel that counts, aligns or multiplies."""

import numpy as np
import pytest

from mercer import kernels, shared
from mercer.errors import InputError, KernelError

WORDS = np.array(["red", "blue", "green", "old", "sea"])


def string(rng):
    return "".join(rng.choice(list("ab"), size=rng.integers(4, 10)))


def tree(rng):
    a, b, c = rng.choice(["dog", "cat", "bird"], 3)
    middle = f" (J {rng.choice(['old', 'red'])})" if rng.random() < 0.5 else ""
    return f"(S (NP (D the){middle} (N {a})) (VP (V sees) (NP (D a) (N {b}) {c})))"


def graph(rng):
    n = int(rng.integers(4, 7))
    edges = [(int(rng.integers(node)), node) for node in range(1, n)] + [(0, n - 1)]
    return {"edges": edges, "labels": [str(one) for one in rng.choice(["C", "N"], n)]}


def elements(rng):
    return [int(one) for one in rng.choice(8, size=4, replace=False)]


def vector(rng):
    return rng.normal(size=3).tolist()


def row(rng):
    return {"a": float(rng.normal()), "b": string(rng), "c": str(rng.choice(["x", "y"]))}


CASES = [
    (string, "spectrum(p=2)"),
    (string, "blended_spectrum(p=3)"),
    (string, "normalise(spectrum(p=2))"),
    (string, "mismatch(p=3, m=1, alphabet='ab')"),
    (string, "gapped_kmer(l=3, k=2)"),
    (string, "restricted_gaps(p=2, m=1)"),
    (string, "gap_weighted(p=2)"),
    (string, "gap_number(p=2)"),
    (string, "subsequences(p=2)"),
    (string, "all_subsequences"),
    (string, "local_alignment"),
    (string, "spectrum(p=1) + gap_weighted(p=2)"),
    (elements, "set_intersection"),
    (elements, "subset_count"),
    (elements, "set_tanimoto"),
    (elements, "multiset_dot"),
    (elements, "multiset_intersection"),
    (elements, "multiset_minmax"),
    (elements, "sub_multisets"),
    (tree, "corooted_subtree"),
    (tree, "all_subtree"),
    (tree, "subset_tree"),
    (tree, "subtree"),
    (tree, "partial_tree"),
    (graph, "wl(h=2)"),
    (graph, "shortest_path"),
    (graph, "graphlet"),
    (graph, "vertex_histogram"),
    (lambda rng: " ".join(rng.choice(WORDS, 6)), "vector_space"),
    (vector, "linear"),
    (vector, "poly(degree=3, gamma=1, coef0=1)"),
    (vector, "linear + 0.5*poly(degree=2)"),
    (lambda rng: rng.normal(size=int(rng.integers(3, 7))).tolist(), "global_alignment(sigma=1.0)"),
    (row, "on('a', rbf(gamma=1)) + on('b', gap_weighted(p=2)) + on('c', categorical)"),
    (row, "on('b', spectrum(p=2))"),
]


@pytest.mark.parametrize("pairs", [8, pytest.param(1000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("draw", "text"), CASES, ids=[text for _, text in CASES])
def test_contributions_add_up(draw, text, pairs):
    rng = np.random.default_rng(0)
    kernel = kernels.parse(text)
    for _ in range(pairs):
        x, z = draw(rng), draw(rng)
        found = shared(kernel, x, z)
        batch = {name: [x[name], z[name]] for name in x} if draw is row else [x, z]
        objects = kernel.coerce(batch)
        expected = kernel.fit(objects)(objects)
        scale = max(1.0, abs(expected[0, 1]))
        assert found.value == pytest.approx(expected[0, 1], abs=1e-9 * scale)
        assert found.contributions.sum() == pytest.approx(expected[0, 1], abs=1e-9 * scale)
        assert len(found.names) == len(found.contributions)
        assert found.norms == pytest.approx((expected[0, 0], expected[1, 1]))
        assert (np.diff(np.abs(found.contributions)) <= 1e-12 * scale).all()


def test_places_of_features_add_up_on_both_sides():
    found = shared("spectrum(p=3)", "GATTACATTAG", "CCGATTACGT")
    assert "".join(part for part, _ in found.left) == "GATTACATTAG"
    assert sum(share for _, share in found.left) == pytest.approx(found.value)
    assert sum(share for _, share in found.right) == pytest.approx(found.value)


def test_where_common_parts_end():
    """By hand: 'cat' and 'car' share c, a and ca; with p = 2 only ca, which ends at the second letter of both."""
    found = shared("gap_weighted(p=2, decay=0.5)", "cat", "car")
    assert found.how == "ends"
    assert found.names[0] == (1, 1, "a", "a")
    assert found.value == pytest.approx(0.5**4)


def test_nodes_at_which_fragments_are_rooted():
    found = shared("subtree", "(A (B b) (C c))", "(A (B b) (C d))")
    assert found.contributions.sum() == pytest.approx(found.value)
    found = shared("all_subtree", "(A b)", "(A b)")
    assert found.names[0] == (1, 1)


def test_what_cannot_be_split_says_so():
    with pytest.raises(KernelError, match="cannot be split"):
        shared("rbf(gamma=1)", [0.0, 1.0], [1.0, 0.0])
    with pytest.raises(InputError, match="150 symbols"):
        shared("gap_weighted(p=2)", "a" * 200, "aa")


def test_cosine():
    assert shared("linear", [3.0, 4.0], [4.0, 3.0]).cosine == pytest.approx(24 / 25)
    assert shared("linear", [0.0, 0.0], [4.0, 3.0]).cosine == 0.0


def test_coordinates_are_called_as_in_products():
    assert shared("linear", [1.0, 2.0], [3.0, 4.0]).names == ("x1", "x0")
    assert shared("linear + poly(degree=1, gamma=1, coef0=0)", [1.0, 0.0], [3.0, 4.0]).names == ("x0", "x0")
    assert {type(name) for name in shared("random_fourier(gamma=1, size=8)", [1.0], [2.0]).names} == {int}
