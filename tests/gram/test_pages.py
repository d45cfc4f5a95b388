"""Memory that is kept from one matrix to the next."""

from __future__ import annotations

import _thread
import gc
import mmap
import operator
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from mercer.gram import pages

pytestmark = pytest.mark.skipif(not hasattr(mmap, "MADV_FREE"), reason="this system cannot lend memory back")

SIDE = 2048
"""16 MiB in float32."""


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    gc.collect()
    pages._kept.clear()
    yield
    gc.collect()
    pages._kept.clear()


def kept_bytes() -> int:
    return sum(len(block) for block in pages._kept)


def place(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_it_is_an_ordinary_array() -> None:
    array = pages.empty((SIDE, SIDE), np.float32)
    assert type(array) is np.ndarray
    assert array.shape == (SIDE, SIDE)
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    assert array.flags.writeable
    assert array.flags.aligned
    array[:] = 3
    assert float(array.sum(dtype=np.float64)) == 3.0 * SIDE**2


def test_memory_that_is_taken_again_at_once_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may take a block in the moment in which it comes back."""
    taken = []

    class Awaited(deque[mmap.mmap]):
        def append(self, block: mmap.mmap) -> None:
            super().append(block)
            taken.append(pages.empty((SIDE, SIDE), np.float32))

    monkeypatch.setattr(pages, "_kept", Awaited())
    array = pages.empty((SIDE, SIDE), np.float32)
    where = place(array)
    del array
    assert [place(one) for one in taken] == [where]
    assert len(pages._lent) == 1  # which holds the block as long as the array lives: otherwise it would be unmapped
    taken[0][:] = 3.0
    monkeypatch.setattr(pages, "_kept", deque())
    taken.clear()
    assert kept_bytes() == 4 * SIDE**2


def test_memory_comes_back_when_the_last_view_is_gone() -> None:
    array = pages.empty((SIDE, SIDE), np.float32)
    where, view = place(array), array[5:, ::2].T
    view[:] = 7
    del array
    assert kept_bytes() == 0
    assert (view == 7).all()
    del view
    assert kept_bytes() >= SIDE * SIDE * 4
    again = pages.empty((SIDE, SIDE - 8), np.float32)
    assert place(again) == where
    assert kept_bytes() == 0


def test_two_arrays_never_share_memory() -> None:
    first = pages.empty((SIDE, SIDE), np.float32)
    second = pages.empty((SIDE, SIDE), np.float32)
    assert not np.may_share_memory(first, second)
    del first
    third = pages.empty((SIDE, SIDE), np.float32)
    assert not np.may_share_memory(second, third)


def test_small_and_very_large_ones_are_left_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pages.empty((10, 10), np.float64).base is None
    monkeypatch.setattr(pages, "LARGEST", pages.SMALLEST)
    assert pages.empty((SIDE, SIDE), np.float32).base is None
    assert pages.empty((0, 5), np.float32).shape == (0, 5)


def test_what_is_kept_is_bounded_and_makes_room_for_larger_ones() -> None:
    held = [pages.empty((SIDE, SIDE), np.float32) for _ in range(pages.KEPT + 3)]
    size = held[0].nbytes
    held.clear()
    assert kept_bytes() == pages.KEPT * size
    larger = pages.empty((2 * SIDE, 2 * SIDE), np.float32)
    assert kept_bytes() == 0
    del larger
    small = pages.empty((SIDE, SIDE), np.float32)  # a quarter of what is kept: that would be a waste
    assert kept_bytes() == 4 * size
    del small


def test_threads_take_and_return_at_will() -> None:
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(30):
            array = pages.empty((SIDE, SIDE), np.float32)
            array[::64] = number
            if not (array[::64] == number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(pages._kept) <= pages.KEPT


def test_a_system_that_takes_no_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MADV_HUGEPAGE", "MADV_FREE"):
        monkeypatch.setattr(mmap, name, 4711, raising=False)
    array = pages.empty((SIDE, SIDE), np.float32)
    array[:] = 1.0
    del array
    assert kept_bytes() == 4 * SIDE**2


def test_an_interrupt_that_meets_the_return_of_a_block_is_not_lost() -> None:
    held = [pages.empty((SIDE, SIDE), np.float32)]

    def interrupted() -> None:
        # No line of Python lies between the two: the interrupt is raised in the first one, which is the finaliser's.
        list(map(operator.call, (_thread.interrupt_main, held.clear)))
        for _ in range(500):
            time.sleep(0.01)

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not held
    assert kept_bytes() >= SIDE * SIDE * 4


def test_pages_that_another_thread_takes_at_once_stay_mapped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two lines of the finaliser of one array, its pages may become those of another."""
    taken: list[Any] = []

    class Kept(deque[Any]):
        def append(self, block: Any) -> None:
            super().append(block)
            taken.append(pages.empty((SIDE, SIDE), np.float32))

    monkeypatch.setattr(pages, "_kept", Kept(maxlen=pages.KEPT))
    array = pages.empty((SIDE, SIDE), np.float32)
    del array
    monkeypatch.undo()
    assert len(taken) == 1
    assert [lease() for lease in pages._lent.values()] == [taken[0].base]  # nothing else holds the mapping
