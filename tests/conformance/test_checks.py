"""What the suites share: failures are gathered, our own warnings silenced, and whatever is written to is noticed."""

import copy
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import KernelWarning
from mercer.inputs.items import Items
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.vectors import Vectors
from mercer.kernels import RBF, Linear
from mercer.testing.checks import (
    Check,
    Suite,
    fingerprint,
    require,
    require_close,
    require_raises,
    require_unchanged,
    run_all,
)


@dataclass
class Held:
    numbers: np.ndarray
    names: list


def grow(array):
    array[0] += 1


@pytest.mark.parametrize(
    ("make", "change"),
    [
        (lambda: np.zeros(3), grow),
        (lambda: [np.zeros(3), "text"], lambda value: grow(value[0])),
        (lambda: ["a", "b"], lambda value: value.reverse()),
        (lambda: ["a", "b"], list.pop),
        (lambda: {"a": np.zeros(2)}, lambda value: grow(value["a"])),
        (lambda: {"a": 1}, dict.clear),
        (lambda: sp.csr_array(np.eye(3)), lambda value: grow(value.data)),
        (lambda: Held(np.zeros(3), []), lambda value: grow(value.numbers)),
        (lambda: Held(np.zeros(3), []), lambda value: value.names.append("x")),
        (lambda: Items([[1], [2]]), lambda value: value.items[0].append(3)),
        (lambda: Vectors(np.zeros((3, 1))), lambda value: grow(value.values)),
        (lambda: Strings(np.zeros(3, np.int32), np.array([0, 3])), lambda value: grow(value.symbols)),
        (lambda: np.array([{1}, None], dtype=object), lambda value: value[0].add(2)),
    ],
)
def test_every_change_is_noticed(make, change):
    value = make()
    before = fingerprint(value)
    assert before == fingerprint(make())
    require_unchanged(before, value, "nothing")
    change(value)
    with pytest.raises(AssertionError, match="the culprit changed what it was given"):
        require_unchanged(before, value, "the culprit")


def test_a_cache_may_fill():
    table = Table({"a": [1.0, 2.0]})
    before = fingerprint(table)
    table.objects(("a",), Vectors)
    require_unchanged(before, table, "parsing a column")


def test_kernels_are_told_apart():
    assert fingerprint(RBF(gamma=1.0)) != fingerprint(RBF(gamma=2.0))
    assert fingerprint([Linear()]) == fingerprint([Linear()])


def test_all_failures_are_gathered():
    class It(Suite):
        prefix = "it"
        number = 4

        def one(self):
            raise ValueError("first")

        def two(self):
            require(self.number == 3, "not three")

        def three(self):
            require(True, "never")

    with pytest.raises(AssertionError) as caught:
        run_all("It", It())
    assert str(caught.value) == (
        "It fails 2 conformance check(s):\n- it_one: ValueError: first\n- it_two: AssertionError: not three"
    )
    assert isinstance(caught.value.__cause__, ValueError)


def test_each_check_keeps_its_own_body():
    class Base(Suite):
        prefix = "it"

        def first(self):
            seen.append(1)

        def second(self):
            seen.append("not this one")

        def _helper(self):
            seen.append("nor this one")

    class It(Base):
        round_trips: ClassVar = {"copy": copy.copy}

        def second(self):
            seen.append(2)

        @property
        def shared(self):
            return seen.append("nor this one")

        def _round_trip(self, name, copied):
            seen.append((name, copied))

    seen = []
    checks = list(It())
    for check in checks:
        check()
    assert seen == [1, 2, ("copy", copy.copy)]
    assert [str(check) for check in checks] == ["it_first", "it_second", "it_round_trip_copy"]


def test_arrays_are_compared():
    require_close(np.array([1.0, 2.0]), np.array([1.0, 2.1]), 0.2, "close")
    with pytest.raises(AssertionError, match=r"far: 1 entries differ, the first at \(1,\): np.float64\(2.0\) against"):
        require_close(np.array([1.0, 2.0]), np.array([1.0, 2.1]), 0.01, "far")
    with pytest.raises(AssertionError, match="1 entries differ"):
        require_close(np.array([np.nan]), np.array([1.0]), np.inf, "no number")
    with pytest.raises(AssertionError, match=r"the shape is \(2,\), not \(1,\)"):
        require_close(np.zeros(2), np.zeros(1), 1.0, "long")


def test_refusals_are_expected():
    assert require_raises(ZeroDivisionError, lambda: 1 / 0, "dividing by zero") == "division by zero"
    with pytest.raises(AssertionError, match="doing nothing is not refused"):
        require_raises(ValueError, lambda: None, "doing nothing")
    with pytest.raises(TypeError):
        require_raises(ValueError, lambda: len(3), "the length of a number")


def test_an_array_has_no_truth():
    with pytest.raises(ValueError, match="truth value"):
        require(np.array([True, False]), "ambiguous")


def test_only_our_warnings_are_silenced():
    Check("quiet", lambda: warnings.warn("short strings", KernelWarning, stacklevel=1))()
    with pytest.warns(RuntimeWarning, match="overflow"):
        Check("loud", lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=1))()
