"""What comes over the network lies in memory as if it had been made here, so that the same code works on it."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mercer.cluster import arrival, use
from mercer.cluster.executor import Workers


@dataclass(frozen=True, eq=False)
class Part:
    numbers: Any
    name: str = "part"


def at(offset: int, values: Any) -> Any:
    """The values at an address that many bytes after one that is aligned."""
    room = np.empty(values.nbytes + 64 + offset, dtype=np.uint8)
    start = -room.ctypes.data % 64 + offset
    found = room[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    found[...] = values
    return found


@pytest.mark.parametrize("offset", [1, 4, 8, 9])
def test_arrays_are_aligned(offset: int) -> None:
    values = np.random.default_rng(0).normal(size=(9, 7))
    moved = {"part": Part(at(offset, values)), "list": [at(offset, values[0].copy())]}
    moved["part"].numbers.flags.writeable = False
    found, size = arrival.arrived(moved)
    assert found["part"].numbers.ctypes.data % 16 == 0
    assert found["list"][0].ctypes.data % 16 == 0
    assert (found["part"].numbers == values).all()
    assert not found["part"].numbers.flags.writeable
    assert found["list"][0].flags.writeable
    assert values.nbytes + values[0].nbytes < size < values.nbytes + values[0].nbytes + 1000


def test_what_lies_well_is_left_alone() -> None:
    value = Part(np.arange(5.0))
    assert arrival.arrived(value)[0] is value
    assert arrival.arrived("words")[0] == "words"


def test_what_cannot_be_sent_did_not_come() -> None:
    generator = (letter for letter in "abc")
    assert arrival.arrived(generator) == (generator, 0)


def test_shared_values_are_copied_once_and_let_go() -> None:
    before = len(arrival._copies)
    value = Part(at(1, np.arange(100.0)))
    copy = arrival.shared(value)
    assert copy is not value
    assert arrival.shared(value) is copy
    well = Part(np.arange(3.0))
    assert arrival.shared(well) is arrival.shared(well) is well
    assert len(arrival._copies) == before + 2
    del value, well
    gc.collect()
    assert len(arrival._copies) == before


@dataclass(frozen=True, eq=False)
class Addresses:
    """A task with a large part, which tells where it and its item lie."""

    weights: Any

    def __call__(self, item: Part) -> Any:
        return [int(array.ctypes.data % 16) for array in (self.weights, item.numbers)]


@pytest.mark.parametrize("length", [3, 1001, 30_001])
def test_workers_see_aligned_arrays_alone(client: Any, length: int) -> None:
    items = [Part(np.arange(float(length + place)), "x" * place) for place in range(8)]
    with use(client) as session:
        found = Workers(session).gather(Addresses(np.arange(float(length))), items)
    assert found == [[0, 0]] * 8


def make(number: int) -> Any:
    return "x" * number, np.arange(1000.0 + number)


def test_results_that_come_back_are_aligned(client: Any) -> None:
    with use(client) as session:
        found = Workers(session).gather(make, range(1, 9))
    assert [array.ctypes.data % 16 for _, array in found] == [0] * 8
