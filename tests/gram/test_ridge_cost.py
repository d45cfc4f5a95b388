"""Which way ridge regression is solved."""

from mercer.gram import cost
from mercer.solvers.ridge.iterative import rank_for


def first(width):
    return next(n for n in range(100, 100_000, 100) if cost.ridge_products_pay(n, width, rank_for(n)))


def test_products_pay_from_some_size_on_and_later_where_kernel_values_are_dear():
    sizes = [first(width) for width in (2, 28, 200, 784)]
    assert sizes == sorted(sizes)
    assert 1000 < sizes[0] < 4000
    assert 8000 < sizes[-1] < 20_000
    assert all(cost.ridge_products_pay(n, 28, rank_for(n)) for n in range(sizes[1], 100_000, 500))


def test_a_factor_pays_where_each_of_many_products_computes_all_values_anew():
    assert cost.factor_pays(4500, 8, 300)
    assert not cost.factor_pays(4500, 8, 10)
    assert not cost.factor_pays(40_000, 8, 300)
