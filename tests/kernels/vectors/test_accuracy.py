"""Where digits are lost by the obvious way of computing, and ours keeps them."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import kernels
from mercer.kernels.vectors import anova
from tests.oracles.vectors import decay, euclidean, gram, l1


def exact_anova(x: np.ndarray, z: np.ndarray, degree: int) -> Fraction:
    table = [Fraction(1)] + [Fraction(0)] * degree
    for a, b in zip(x.tolist(), z.tolist(), strict=True):
        for s in range(degree, 0, -1):
            table[s] += Fraction(a) * Fraction(b) * table[s - 1]
    return table[degree]


def test_the_dynamic_programme_keeps_its_digits_at_high_degree() -> None:
    x, z = np.random.default_rng(0).uniform(0, 2, size=(2, 60))
    wanted = float(exact_anova(x, z, 30))
    assert kernels.ANOVA(degree=30).fit([z])([x], [z])[0, 0] == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("degree", [2, 3])
def test_products_are_used_only_where_they_lose_nothing(degree: int, monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    original = anova._by_products
    monkeypatch.setattr(anova, "_by_products", lambda *args: (used.append(1), original(*args)))
    kernel = kernels.ANOVA(degree=degree)
    even = np.random.default_rng(0).normal(size=(6, 20))
    # One huge coordinate: powers of sums exceed what is left after subtracting by twelve orders and more.
    uneven = even.copy()
    uneven[:, 0] = 1e6
    uneven[:, 1:] *= 1e-6
    for rows, by_products in ((even, True), (uneven, False)):
        used.clear()
        got = kernel.fit(rows)(rows, rows)
        assert bool(used) == by_products
        wanted = np.array([[float(exact_anova(x, z, degree)) for z in rows] for x in rows])
        own = np.sqrt(np.diagonal(wanted))
        assert (np.abs(got - wanted) <= 1e-9 * np.outer(own, own)).all()


@pytest.mark.parametrize("degree", [2, 3])
def test_products_and_dynamic_programme_agree(degree: int) -> None:
    rows = np.random.default_rng(0).normal(size=(40, 12))
    products, tables = np.empty((40, 40)), np.empty((40, 40))
    anova._by_products(rows, rows, degree, products)
    anova._by_dynamic_programme(rows, rows, degree, tables)
    np.testing.assert_allclose(products, tables, rtol=1e-9, atol=1e-9)


def test_tables_of_the_dynamic_programme_may_be_cut_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.random.default_rng(0).normal(size=(23, 9))
    whole, cut = np.empty((23, 23)), np.empty((23, 23))
    anova._by_dynamic_programme(rows, rows, 5, whole)
    monkeypatch.setattr(anova, "_TABLE_NUMBERS", 300)
    anova._by_dynamic_programme(rows, rows, 5, cut)
    np.testing.assert_array_equal(whole, cut)


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_near_neighbours_keep_their_distance(offset: float, form: type) -> None:
    near = np.random.default_rng(0).normal(size=(5, 3)) + offset
    rows = np.concatenate([near, near, near + 1e-7, near[:1] + 50.0])
    wanted = gram(decay(euclidean, 0.7), rows.tolist(), rows.tolist())
    kernel = kernels.Exponential(gamma=0.7)
    np.testing.assert_allclose(kernel.fit(form(rows))(form(rows), form(rows)), wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("kernel", "distance"), [(kernels.Exponential(0.7), euclidean), (kernels.Laplacian(0.7), l1)], ids=["l2", "l1"]
)
def test_far_from_the_origin_in_single_precision(kernel: kernels.Kernel, distance: object) -> None:
    rows = np.random.default_rng(0).normal(size=(30, 4)) + 1e5
    fitted = kernel.fit(rows)
    kept = fitted.features(fitted.coerce(rows), np.float32)
    out = np.empty((30, 30), dtype=np.float32)
    fitted.tile(kept, kept, out)
    np.testing.assert_allclose(out, gram(decay(distance, 0.7), rows.tolist(), rows.tolist()), atol=1e-5)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Laplacian(gamma=0.1),
        kernels.ExponentialChi2(gamma=0.1),
        kernels.AdditiveChi2(),
        kernels.HistogramIntersection(),
        kernels.MinMax(),
        kernels.Tanimoto(),
        kernels.AllSubsets(),
        kernels.ANOVA(degree=2),
        kernels.ANOVA(degree=4),
        kernels.Exponential(gamma=0.1),
        kernels.RBF(gamma=0.1),
    ],
    ids=str,
)
def test_very_wide_sparse_rows_are_never_expanded_as_a_whole(kernel: kernels.Kernel) -> None:
    few = np.random.default_rng(0).poisson(1.0, size=(6, 12)).astype(float)
    places = np.sort(np.random.default_rng(1).choice(50_000_000, size=12, replace=False))
    row, column = np.nonzero(few)
    wide = sp.csr_array((few[row, column], (row, places[column])), shape=(6, 50_000_000))  # 2.2 GiB if dense
    fitted = kernel.fit(wide)
    np.testing.assert_allclose(fitted(wide, wide), kernel.fit(few)(few, few), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        fitted.diagonal(fitted.features(fitted.coerce(wide))),
        kernel.fit(few).diagonal(kernel.fit(few).features(fitted.coerce(few))),
        rtol=1e-12,
    )


def test_subsets_by_enumeration_of_the_exact_value() -> None:
    x, z = np.random.default_rng(0).normal(size=(2, 10))
    total = sum(
        np.prod([Fraction(float(x[i])) * Fraction(float(z[i])) for i in s] or [Fraction(1)])
        for d in range(11)
        for s in combinations(range(10), d)
    )
    assert kernels.AllSubsets().fit([z])([x], [z])[0, 0] == pytest.approx(float(total), rel=1e-12)


@pytest.mark.parametrize("width", [129, 258])
def test_more_features_than_are_worked_on_at_once(width: int) -> None:
    X, Z = np.random.default_rng(0).uniform(0, 0.2, size=(2, 7, width))
    x, z = X[:, None], Z[None]
    wanted = {
        kernels.Laplacian(gamma=0.1): np.exp(-0.1 * np.abs(x - z).sum(axis=2)),
        kernels.ExponentialChi2(gamma=0.1): np.exp(-0.1 * ((x - z) ** 2 / (x + z)).sum(axis=2)),
        kernels.AdditiveChi2(): (2 * x * z / (x + z)).sum(axis=2),
        kernels.HistogramIntersection(): np.minimum(x, z).sum(axis=2),
        kernels.AllSubsets(): (1 + x * z).prod(axis=2),
        kernels.Tent(half_width=0.5): (1 - np.abs(x - z)).prod(axis=2),
    }
    for kernel, values in wanted.items():
        np.testing.assert_allclose(kernel.fit(Z)(X, Z), values, rtol=1e-9)
