"""Users' functions are called once for each pair, whoever needs the value within one piece of work."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import mercer
from mercer import SVC, KernelCCA, KernelSearchCV, MultipleKernelMachine, kernels
from mercer.kernels.memory import calls

RANDOM = np.random.default_rng(0)
N = 24
ITEMS = [frozenset(RANDOM.integers(0, 12, 5).tolist()) for _ in range(N)]
Y = np.array([int(0 in item or 1 in item) for item in ITEMS])
ROWS = RANDOM.normal(size=(N, 2))
PAIRS = N * (N + 1) // 2
CALLS: list[int] = []


def shared(a, b):
    CALLS.append(1)
    return float(len(a & b))


def product(x, z):
    CALLS.append(1)
    return float(x @ z)


ON_ITEMS = kernels.FromFunction(shared, "items", symmetric=True, psd=True)
ON_ROWS = kernels.FromFunction(product, symmetric=True, psd=True)
TABLE = kernels.on("a", ON_ITEMS) + kernels.on("b", kernels.RBF())  # whose width depends on the fold
SETS = kernels.FromFunction(lambda a, b: float(len(a) == len(b)), "items", symmetric=True)


@pytest.fixture(autouse=True)
def _count():
    CALLS.clear()


@pytest.mark.parametrize(
    "act",
    [
        lambda: mercer.diagnose(ON_ITEMS, ITEMS, Y),
        lambda: mercer.diagnose(ON_ITEMS, ITEMS, Y + 0.5),
        lambda: mercer.diagnose(ON_ROWS, ROWS, ROWS[:, 0] > 0),
        lambda: mercer.Cells(SVC(kernel=ON_ROWS), max(2, len(ROWS) // 2)).fit(ROWS, ROWS[:, 0] > 0),
        lambda: mercer.compare([ON_ITEMS], ITEMS, Y, cv=3),
        lambda: mercer.nested_cross_validate(
            KernelSearchCV(SVC(kernel=ON_ITEMS), {"C": [1.0, 10.0]}, cv=2), ITEMS, Y, cv=3
        ),
        lambda: MultipleKernelMachine(SVC(), [ON_ITEMS, SETS]).fit(ITEMS, Y),
        lambda: KernelCCA(1, kernel=SETS, kernel_y=ON_ITEMS).fit(ITEMS, ITEMS),
        lambda: KernelSearchCV(SVC(kernel=TABLE), {"C": [1.0, 10.0]}, cv=3).fit({"a": ITEMS, "b": ROWS[:, 0]}, Y),
        lambda: KernelSearchCV(make_pipeline(SVC(kernel=ON_ITEMS)), {"svc__C": [1.0, 10.0]}, cv=3).fit(ITEMS, Y),
        lambda: SVC(kernel=kernels.centre(ON_ITEMS)).fit(ITEMS, Y),
    ],
    ids=[
        "diagnose",
        "diagnose numbers",
        "diagnose rows",
        "Cells",
        "compare",
        "nested_cross_validate",
        "MultipleKernelMachine",
        "KernelCCA",
        "KernelSearchCV of a table",
        "KernelSearchCV of a pipeline",
        "centred",
    ],
)
def test_each_pair_once(act):
    act()
    assert len(CALLS) <= PAIRS


def test_rows_are_known_by_their_numbers():
    with calls.once(), calls.once():
        first = ON_ROWS.fit(ROWS)(ROWS)
        count = len(CALLS)
        second = ON_ROWS.fit(ROWS)(ROWS[::-1].copy())
    assert len(CALLS) == count
    np.testing.assert_array_equal(second, first[::-1, ::-1])
    ON_ROWS.fit(ROWS)(ROWS)
    assert len(CALLS) > count


def test_both_ways_round_where_nobody_says_that_they_are_alike():
    asymmetric = kernels.FromFunction(lambda a, b: CALLS.append(1) or float(len(a) - len(b)), "items")
    with calls.once():
        known = calls.calls_of(asymmetric, symmetric=False)
        assert known is not None
        assert known.value(ITEMS[0], ITEMS[1], lambda a, b: 3.0) == 3.0
        assert known.value(ITEMS[1], ITEMS[0], lambda a, b: -3.0) == -3.0
        assert known.value(ITEMS[0], ITEMS[1], lambda a, b: 7.0) == 3.0


def test_beyond_its_room_values_are_computed(monkeypatch):
    monkeypatch.setattr(calls, "_MOST", 2)
    known = calls.Calls(symmetric=True)
    values = [known.value(a, b, lambda a, b: float(len(a + b))) for a in ("a", "bb", "ccc") for b in ("a", "bb", "ccc")]
    assert values == [2.0, 3.0, 4.0, 3.0, 4.0, 5.0, 4.0, 5.0, 6.0]


def test_many_objects():
    known = calls.Calls(symmetric=True)
    names = [str(i) for i in range(200)]
    for name in names:
        known.value(name, "0", lambda a, b: float(a))
    assert [known.value("0", name, lambda a, b: -1.0) for name in names] == [float(name) for name in names]
