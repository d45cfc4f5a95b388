"""Who computes the tiles: errors, Ctrl-C, nesting, and the threads of BLAS."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from mercer.gram import executors
from mercer.gram.executors import Threads, default_threads
from mercer.gram.sinks import StoreSink
from mercer.gram.tiles import plan

STRIPS = plan(40, 40, itemsize=8, budget=8 * 40)
EXECUTORS = [Threads(1), Threads(2), Threads(7)]


def fill(tile, out):
    out[...] = np.add.outer(1000.0 * np.arange(tile.top, tile.bottom), np.arange(tile.left, tile.right))


def blas_threads():
    return [library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"]


@pytest.fixture
def several_blas_threads():
    """So that a limit of one can be told from what was before."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads()) == {2}
        yield


@pytest.mark.parametrize("executor", EXECUTORS, ids=str)
def test_every_tile_is_computed(executor):
    out = np.full((40, 40), np.nan)
    fractions = []
    executor.map(fill, STRIPS, StoreSink(out, mirror=False), fractions.append)
    assert np.array_equal(out, np.add.outer(1000.0 * np.arange(40), np.arange(40)))
    assert fractions == sorted(fractions)
    assert all(0 <= fraction <= 1 for fraction in fractions)


@pytest.mark.parametrize("executor", EXECUTORS, ids=str)
def test_each_runs_every_item(executor):
    seen = []
    executor.each(seen.append, range(50))
    assert sorted(seen) == list(range(50))


@pytest.mark.usefixtures("several_blas_threads")
@pytest.mark.parametrize("executor", EXECUTORS, ids=str)
def test_the_first_exception_stops_the_rest(executor):
    done = []

    def work(tile, out):
        if tile.top >= 5:
            raise ZeroDivisionError("tile")
        time.sleep(0.001)
        done.append(tile)

    before = blas_threads()
    with pytest.raises(ZeroDivisionError, match="tile"):
        executor.map(work, STRIPS, StoreSink(np.empty((40, 40)), mirror=False))
    assert len(done) < 20
    assert blas_threads() == before


@pytest.mark.parametrize("executor", EXECUTORS, ids=str)
def test_an_exception_in_each(executor):
    def job(item):
        if item == 3:
            raise KeyError(item)
        time.sleep(0.001)

    with pytest.raises(KeyError):
        executor.each(job, range(100))


@pytest.mark.parametrize("executor", EXECUTORS, ids=str)
def test_an_exception_in_the_sink(executor):
    class Full(StoreSink):
        def accept(self, tile, block):
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        executor.map(fill, STRIPS, Full(np.empty((40, 40)), mirror=False))


def test_nested_use_works_in_the_thread_at_hand():
    pool = Threads(3)
    threads = []

    def job(item):
        out = np.empty((40, 40))
        pool.map(lambda tile, block: (threads.append(threading.get_ident()), fill(tile, block)),
                 STRIPS, StoreSink(out, mirror=False))  # fmt: skip
        assert out[39, 39] == 39039.0

    finished = threading.Event()
    runner = threading.Thread(target=lambda: (pool.each(job, range(6)), finished.set()), daemon=True)
    runner.start()
    assert finished.wait(30), "nested use of one executor does not finish"
    assert len(set(threads)) <= 3


@pytest.mark.usefixtures("several_blas_threads")
def test_blas_is_held_to_one_thread_and_restored():
    before = blas_threads()
    seen = []
    Threads(2).map(
        lambda tile, out: seen.append(blas_threads()), STRIPS[:4], StoreSink(np.empty((40, 40)), mirror=False)
    )
    assert all(count == 1 for counts in seen for count in counts)
    assert blas_threads() == before


def test_the_number_of_threads_can_be_set(monkeypatch):
    monkeypatch.setenv("MERCER_NUM_THREADS", "3")
    assert default_threads() == 3
    assert Threads().count == 3
    for nonsense in ("", "0", "many", "-2"):
        monkeypatch.setenv("MERCER_NUM_THREADS", nonsense)
        assert default_threads() >= 1


def test_threads_heed_openmp_and_containers(monkeypatch, tmp_path):
    monkeypatch.delenv("MERCER_NUM_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(executors, "_container_cores", lambda: 2**20)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)
    assert default_threads() == 8
    for asked, wanted in (("3", 3), ("2,4", 2), ("64", 8), ("nonsense", 8), ("0", 8)):
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
        assert default_threads() == wanted
    monkeypatch.setenv("MERCER_NUM_THREADS", "5")  # ours comes first
    assert default_threads() == 5


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({"cpu.max": "150000 100000"}, 2),
        ({"cpu.max": "max 100000"}, 2**20),
        ({"cpu/cpu.cfs_quota_us": "400000", "cpu/cpu.cfs_period_us": "100000"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 2**20),
        ({}, 2**20),
    ],
)
def test_quotas_of_containers(tmp_path, files, cores):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert executors._container_cores(tmp_path) == cores


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
@pytest.mark.parametrize("executor", ["Threads(1)", "Threads(2)"])
def test_an_interrupt_stops_promptly(executor):
    program = textwrap.dedent(f"""
        import sys, threading, time
        import numpy as np
        from mercer.gram.executors import Threads
        from mercer.gram.sinks import StoreSink
        from mercer.gram.tiles import plan

        def work(tile, out):
            if tile.top == 8:
                print("under way", flush=True)
            time.sleep(0.05)

        strips = plan(400, 400, itemsize=8, budget=8 * 400)
        try:
            {executor}.map(work, strips, StoreSink(np.empty((400, 400)), mirror=False))
        except KeyboardInterrupt:
            alive = [thread for thread in threading.enumerate() if thread.name.startswith("mercer")]
            print("interrupted", len(alive), flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout.readline() == "under way\n"
            began = time.monotonic()
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate(timeout=30)
        finally:
            process.kill()
    assert output == "interrupted 0\n"
    assert time.monotonic() - began < 5.0  # all of the work takes at least twice that


def test_an_interrupt_while_threads_are_started(monkeypatch):
    done = []
    submit = ThreadPoolExecutor.submit

    def interrupted(pool, *job):
        if threading.active_count() > before:
            raise KeyboardInterrupt
        return submit(pool, *job)

    def work(tile, out):
        time.sleep(0.01)
        done.append(tile)

    executors._dismiss()  # threads kept from earlier calls would not have to be started
    before = threading.active_count()
    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Threads(3).map(work, STRIPS, StoreSink(np.empty((40, 40)), mirror=False))
    assert len(done) <= 5
    assert threading.active_count() == before


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 6, 7, 8, 11])
def test_results_are_combined_over_a_fixed_tree(count):
    """Neighbours first, then their results; one without a neighbour goes up as it is."""

    def expected(names):
        while len(names) > 1:
            pairs = [f"({a}{b})" for a, b in zip(names[::2], names[1::2], strict=False)]
            names = pairs + names[len(names) // 2 * 2 :]
        return names[0]

    items = [chr(ord("a") + place) for place in range(count)]
    for threads in (1, 2, 3):
        assert Threads(threads).reduce(str, items, lambda a, b: f"({a}{b})") == expected(items)
