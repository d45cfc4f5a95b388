"""The cost model: what it chooses takes at most half as long again as the better way."""

import numpy as np
import pytest

from mercer.gram import cost
from mercer.gram.contract import Setting
from mercer.gram.executors import Threads

MEASURED = {
    # form, objects, columns: milliseconds on a matrix and on weights, of dense rows at C = 1, both on one core
    cost.KINKED: [
        (60, 4, 1.31, 5.60),
        (60, 50, 0.97, 4.07),
        (150, 20, 1.49, 6.67),
        (300, 10, 3.89, 7.22),
        (300, 20, 8.40, 7.35),
        (300, 400, 4.37, 31.71),
        (600, 20, 13.36, 8.88),
        (600, 50, 27.18, 11.69),
        (600, 400, 11.02, 39.96),
        (1000, 10, 16.65, 9.71),
        (1000, 20, 39.28, 11.72),
        (1000, 100, 58.88, 21.35),
        (1000, 800, 33.94, 232.34),
        (2000, 4, 16.95, 10.92),
        (2000, 50, 165.49, 16.40),
        (2000, 200, 529.20, 63.33),
        (2000, 800, 213.98, 450.61),
        (4000, 20, 104.59, 17.65),
        (4000, 200, 1181.46, 121.33),
    ],
    cost.TUBE: [
        (60, 4, 1.16, 6.02),
        (300, 10, 1.77, 5.31),
        (600, 20, 4.23, 7.68),
        (1000, 50, 8.77, 9.40),
        (1000, 800, 63.29, 316.84),
        (2000, 20, 13.92, 8.37),
        (2000, 800, 185.00, 478.34),
        (4000, 20, 26.49, 12.23),
        (4000, 200, 94.59, 51.41),
    ],
    cost.SMOOTH: [
        (60, 4, 4.26, 1.70),
        (300, 20, 6.25, 2.14),
        (300, 400, 23.28, 32.61),
        (1000, 100, 20.35, 6.53),
        (2000, 4, 30.40, 3.00),
        (2000, 400, 311.44, 97.25),
    ],
    cost.NU: [
        (60, 4, 1.21, 14.82),
        (300, 100, 2.67, 23.55),
        (1000, 20, 6.47, 25.85),
        (2000, 400, 89.02, 366.83),
    ],
}
CASES = [(form, *case) for form, cases in MEASURED.items() for case in cases]


@pytest.mark.parametrize(("form", "n", "d", "matrix", "weights"), CASES)
def test_the_cheaper_way_is_chosen_or_one_nearly_as_cheap(form, n, d, matrix, weights):
    on_weights = cost.of_weights(form, n, d, d) <= cost.of_matrix(form, n, d, d)
    assert (weights if on_weights else matrix) <= 1.5 * min(matrix, weights)


@pytest.mark.parametrize("form", [cost.KINKED, cost.TUBE, cost.SMOOTH, cost.NU, cost.LEAST_SQUARES])
def test_costs_grow_with_what_there_is_to_do(form):
    assert cost.of_matrix(form, 500, 10, 10) < cost.of_matrix(form, 1000, 10, 10) < cost.of_matrix(form, 1000, 90, 90)
    assert cost.of_weights(form, 500, 10, 10) < cost.of_weights(form, 1000, 10, 10)
    assert cost.of_weights(form, 1000, 10, 10) < cost.of_weights(form, 1000, 10, 10, write=True)
    assert cost.of_weights(form, 1000, 50, 50) < cost.of_weights(form, 1000, 90, 90)
    assert cost.of_weights(form, 9000, 5000, 50) < cost.of_weights(form, 9000, 5000, 60)  # by sweeps


@pytest.mark.parametrize("width", [0.0, 20.0, 800.0])
def test_what_costs_less_than_threads_is_computed_at_once(width):
    setting = Setting(np.float64, Threads(1), width=width)
    most = next(count for count in range(10**6) if cost.of_entries(count, width) >= cost.THREADS)
    assert setting.at_once(most - 1)
    assert not setting.at_once(most)
    assert not Setting(np.float64, Threads(1), expensive=True).at_once(1)


def test_folding_pays_where_features_are_few():
    def pays(entries, support, width, outputs=1, *, write=True):
        return 2 * cost.of_folded(entries, outputs, write=write) <= cost.of_support(support, width, outputs)

    assert pays(20, 100, 20, write=False)  # a linear kernel
    assert not pays(20, 2, 20, write=False)
    assert not pays(20_100, 1000, 200)  # monomials of degree 2, of 200 columns
    assert pays(15, 1000, 4)


def test_many_small_machines_share_one_matrix():
    """Ten classes of 144 images: a matrix for all pairs costs less than 45 times Newton's method, one pair does not."""
    told = {"width": 64.0, "features": 64.0, "entries": 64.0}
    assert not cost.weights_pay(cost.KINKED, 1437, **told, groups=10)
    assert cost.weights_pay(cost.KINKED, 1437, **told)
    assert cost.weights_pay(cost.KINKED, 4000, width=200.0, features=200.0, entries=200.0, groups=4)


LOOPS = [
    # rows, features, numbers of a row that are not zero: milliseconds by compiled loops and by products of matrices, of
    # all Newton steps of a squared hinge on one core
    (60, 4, 4, 0.05, 0.42),
    (300, 10, 10, 0.09, 0.50),
    (1000, 20, 20, 0.38, 0.94),
    (4000, 20, 20, 1.43, 1.70),
    (1000, 60, 60, 1.45, 1.72),
    (1000, 100, 100, 3.75, 3.01),
    (300, 80, 8, 0.61, 0.80),
    (10_000, 10, 10, 1.76, 2.48),
]
EIGENVECTORS = [
    # rows: milliseconds by LAPACK and by products with blocks of vectors, of four eigenvectors on one core
    (60, 0.15, 0.56),
    (100, 0.32, 0.55),
    (200, 1.09, 1.57),
    (300, 2.47, 1.48),
    (500, 7.61, 3.13),
    (1000, 49.91, 16.49),
]


@pytest.mark.parametrize(("n", "features", "entries", "loops", "products"), LOOPS)
def test_loops_and_products_are_chosen_by_what_they_take(n, features, entries, loops, products):
    chosen = loops if cost.loops_pay(n, features, entries) else products
    assert chosen <= 1.5 * min(loops, products)


@pytest.mark.parametrize(("n", "directly", "by_products"), EIGENVECTORS)
def test_eigenvectors_are_found_by_what_takes_less(n, directly, by_products):
    chosen = directly if cost.of_some_eigenvectors(n) <= cost.of_leading_eigenvectors(n) else by_products
    assert chosen <= 1.5 * min(directly, by_products)


def test_loops_do_not_pay_for_more_features_than_newtons_method_takes():
    assert not cost.loops_pay(10, cost.MOST_FEATURES + 1, 1.0)


@pytest.mark.parametrize(
    ("price", "arguments"),
    [
        (cost.of_entries, (50.0, 7.0)),
        (lambda *sizes: cost.of_matrix(cost.KINKED, *sizes), (300, 7.0, 9.0)),
        (lambda *sizes: cost.of_weights(cost.KINKED, *sizes), (300, 9.0, 5.0)),
        (lambda n, entries: cost.of_weights(cost.KINKED, n, 10.0 * cost.MOST_FEATURES, entries), (300, 5.0)),
        (cost.of_loops, (300, 9.0, 5.0)),
        (cost.of_products, (300, 5.0)),
        (cost.of_stored_products, (300, 7.0)),
        (cost.of_some_eigenvectors, (300,)),
        (cost.of_leading_eigenvectors, (300,)),
        (cost.of_factor, (300,)),
        (cost.of_single_factor, (300,)),
        (cost.single_factor_of, (300,)),
        (cost.of_ridge_products, (300, 7.0, 20)),
        (cost.of_step, (300,)),
        (cost.of_pair, (300, 7.0)),
        (cost.of_support, (30, 7.0, 3)),
        (lambda *sizes: cost.of_folded(*sizes, write=False), (40.0, 3)),
    ],
)
def test_more_work_costs_more(price, arguments):
    plain = price(*arguments)
    assert plain > 0
    for place in range(len(arguments)):
        more = [size * 2 if at == place else size for at, size in enumerate(arguments)]
        assert price(*more) > plain


def test_what_must_be_found_first_costs_more():
    assert cost.of_folded(40.0, 3, write=True) > cost.of_folded(40.0, 3, write=False)
    for features in (9.0, 10.0 * cost.MOST_FEATURES):
        known, found = (cost.of_weights(cost.KINKED, 300, features, 5.0, write=write) for write in (False, True))
        assert found > known


def test_the_rows_of_a_factor_are_those_that_cost_so_much():
    assert cost.single_factor_of(cost.of_single_factor(700.0)) == pytest.approx(700.0)
