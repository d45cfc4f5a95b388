"""Products group by group are those with all the zeros."""

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.gram import cost
from mercer.gram import pair_products as module
from mercer.gram.make import gram_of
from mercer.gram.pair_products import columns_of_groups, pair_products, worth_grouping


def made(counts, new, columns=3):
    """A Gram matrix of new objects against grouped ones, and coefficients with the zeros of pairs."""
    random = np.random.default_rng(0)
    support, X = random.normal(size=(sum(counts), columns)), random.normal(size=(new, columns))
    gram = gram_of(kernels.RBF(gamma=0.2).fit(support), X, support)
    table = columns_of_groups(len(counts)).repeat(counts, axis=0)
    layout = random.normal(size=table.shape)
    full = np.zeros((sum(counts), len(counts) * (len(counts) - 1) // 2))
    np.put_along_axis(full, table, layout, axis=1)
    return gram, layout, full


@pytest.mark.parametrize("by_loops", [False, True])
@pytest.mark.parametrize(("counts", "new"), [((3, 4, 5), 7), ((0, 2, 1, 3), 1), ((300, 200, 400, 500), 900)])
def test_the_product_is_the_ordinary_one(monkeypatch, counts, new, by_loops):
    gram, layout, full = made(counts, new)
    monkeypatch.setattr(cost, "pair_loops_pay", lambda *sizes: by_loops)
    np.testing.assert_allclose(pair_products(gram, layout, np.array(counts)), gram.matvec(full), atol=2e-4)


@pytest.mark.parametrize("by_loops", [False, True])
def test_many_new_objects_are_taken_by_parts(monkeypatch, by_loops):
    gram, layout, full = made((3, 4, 5), 50)
    monkeypatch.setattr(cost, "pair_loops_pay", lambda *sizes: by_loops)
    monkeypatch.setattr(module, "_ENTRIES_AT_ONCE", 40)
    np.testing.assert_allclose(pair_products(gram, layout, np.array((3, 4, 5))), gram.matvec(full), atol=1e-12)


def test_loops_serve_small_groups_and_products_large_ones():
    assert cost.pair_loops_pay(1, 300, 100)
    assert cost.pair_loops_pay(300, 300, 100)
    assert not cost.pair_loops_pay(5000, 7000, 26)


def test_columns_are_in_the_order_of_pairs():
    assert columns_of_groups(4).tolist() == [[0, 1, 2], [0, 3, 4], [1, 3, 5], [2, 4, 5]]


def test_two_groups_have_no_zeros():
    assert not worth_grouping(1000, 2)
    assert worth_grouping(1000, 10)


def test_a_machine_of_many_classes_uses_it_and_pickles_without_it():
    import pickle

    random = np.random.default_rng(1)
    X = random.normal(size=(120, 4))
    y = np.arange(120) % 12
    model = SVC().fit(X, y)
    values = model.decision_function(X)
    machine = model.expansion_
    exact = machine.kernel(X, machine.support) @ machine.coefficients + machine.intercept
    np.testing.assert_allclose(machine(X), exact, atol=1e-12)
    before = len(pickle.dumps(SVC().fit(X, y)))
    assert len(pickle.dumps(model)) <= before + 16
    assert np.array_equal(pickle.loads(pickle.dumps(model)).decision_function(X), values)
