"""Runs that are killed and resumed end with the same bits."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from mercer import SVC, KernelLogisticRegression, KernelRidge, kernels
from mercer.errors import InputError
from mercer.gram import journal
from mercer.gram.executors import Threads
from mercer.gram.journal import Journal
from mercer.gram.tree import TOP, climb
from mercer.inputs.blocks import ArrayBlocks

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1200, 3))
Y = np.where(np.sin(2 * X[:, 0]) + 0.3 * RNG.normal(size=1200) > 0, 1, -1)
SEEN = kernels.Nystrom(kernels.RBF(gamma=0.5), m=20)


def tree(parts):
    """The oracle: neighbours are put in brackets until one is left."""
    while len(parts) > 1:
        parts = [
            f"({''.join(parts[place : place + 2])})" if place + 1 < len(parts) else parts[place]
            for place in range(0, len(parts), 2)
        ]
    return parts[0]


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 13, 16, 21, 100])
def test_every_way_to_add_up_is_the_same_tree(n):
    letters = [chr(97 + place % 26) for place in range(n)]
    expected = tree(letters)

    def join(one, other):
        return f"({one}{other})"

    assert Threads(1).reduce(str, letters, join) == expected
    assert Threads(3).reduce(str, letters, join) == expected
    assert journal.kept(Threads(2)).reduce(str, letters, join) == expected
    waiting = {}
    for place in RNG.permutation(n):
        climb(waiting, int(place), letters[place], n - 1, join)
    assert waiting == {TOP: expected}


class Stopped(Exception):
    """Somebody pulled the plug."""


class Limited:
    """An executor that does so many stretches and no more."""

    def __init__(self, most):
        self.left = most

    def reduce(self, task, items, combine):
        if not self.left:
            raise Stopped
        self.left -= 1
        return Threads(2).reduce(task, items, combine)


STOPS = [
    *((KernelRidge(kernel=SEEN), most) for most in (1, 2)),  # which takes one pass of four stretches
    *((KernelLogisticRegression(kernel=SEEN), most) for most in (1, 7, 20)),
    *((SVC(kernel=SEEN), most) for most in (3, 30)),
]


@pytest.mark.parametrize(("learner", "most"), STOPS, ids=lambda each: str(each)[:8])
def test_stopped_anywhere_and_resumed(learner, most, tmp_path):
    """Blocks of 40 rows are four stretches a pass."""
    expected = learner.fit(ArrayBlocks(X, Y, rows=40)).predict(X[:100])
    values = learner.expansion_.coefficients
    stopped = ArrayBlocks(X, Y, rows=40)
    stopped.executor = Limited(most)
    with pytest.raises(Stopped), Journal(tmp_path / "run", seconds=0).open():
        learner.fit(stopped)
    kept = {path.name for path in (tmp_path / "run").iterdir()}
    assert "mark.json" in kept
    with Journal(tmp_path / "run", seconds=0).open() as found:
        learner.fit(ArrayBlocks(X, Y, rows=40))
    assert found.resumed == sum(name.startswith("pass-") for name in kept)
    assert "partial.npz" in kept or found.resumed
    assert np.array_equal(learner.expansion_.coefficients, values)
    assert np.array_equal(learner.predict(X[:100]), expected)
    assert not (tmp_path / "run").exists()


def test_another_run_is_refused(tmp_path):
    stopped = ArrayBlocks(X, Y, rows=40)
    stopped.executor = Limited(2)
    with pytest.raises(Stopped), Journal(tmp_path / "run", seconds=0).open():
        KernelRidge(kernel=SEEN).fit(stopped)
    others = [
        (KernelRidge(kernel=SEEN, alpha=2.0), ArrayBlocks(X, Y, rows=40), None),
        (KernelRidge(kernel=SEEN), ArrayBlocks(X, Y, rows=41), None),
        (KernelRidge(kernel=SEEN), ArrayBlocks(X + 1e-9, Y, rows=40), None),
        (KernelRidge(kernel=SEEN), ArrayBlocks(X, Y, rows=40), -Y),
    ]
    for learner, data, y in others:
        with pytest.raises(InputError, match="other data or with other parameters"), Journal(tmp_path / "run").open():
            learner.fit(data, y)
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "letter.txt").write_text("mine")
    with pytest.raises(InputError, match="not empty"), Journal(tmp_path / "else").open():
        KernelRidge(kernel=SEEN).fit(ArrayBlocks(X, Y, rows=40))
    assert (tmp_path / "else" / "letter.txt").read_text() == "mine"
    partial = tmp_path / "run" / "partial.npz"
    partial.write_bytes(partial.read_bytes()[:100])
    with pytest.raises(InputError, match="damaged"), Journal(tmp_path / "run").open():
        KernelRidge(kernel=SEEN).fit(ArrayBlocks(X, Y, rows=40))


KILLED = """
import sys, numpy as np
from mercer import KernelLogisticRegression, blocks, kernels
folder, run, out = sys.argv[1:]
data = blocks.of(f"{folder}/X.npy", f"{folder}/y.npy", rows=500)
kernel = kernels.Nystrom(kernels.RBF(gamma=0.5), m=40)
with blocks.checkpoint(run, seconds=0.05):
    print("go", flush=True)
    model = KernelLogisticRegression(kernel=kernel, memory=1).fit(data)
np.savez(out, c=model.expansion_.coefficients, b=model.expansion_.intercept)
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGKILL")
def test_killed_at_random_moments_and_resumed(tmp_path):
    """Really killed, as often as it takes to get to the end: the result has the bits of a run without a stop."""
    rng = np.random.default_rng(int(time.time()))
    rows = np.random.default_rng(1).normal(size=(30_000, 3))
    np.save(tmp_path / "X.npy", rows)
    np.save(tmp_path / "y.npy", (np.sin(2 * rows[:, 0]) + 0.3 * rows[:, 1] > 0).astype(int))

    def start(run, out):
        arguments = [sys.executable, "-c", KILLED, str(tmp_path), str(tmp_path / run), str(tmp_path / out)]
        return subprocess.Popen(arguments, stdout=subprocess.PIPE)

    with start("whole", "whole.npz") as whole:
        whole.stdout.readline()
        began = time.monotonic()
        assert whole.wait(120) == 0
        seconds = time.monotonic() - began
    kills, kept = 0, 0
    for _ in range(12):
        with start("run", "resumed.npz") as process:
            process.stdout.readline()
            if kills < 3:
                while process.poll() is None and not (tmp_path / "run" / "mark.json").exists():
                    time.sleep(0.01)
                # The first time at once: by the clock of a loaded machine, it may be done before.
                time.sleep(rng.uniform(0.0, 0.5) * seconds if kills else 0.0)
                process.send_signal(signal.SIGKILL)
                killed = process.wait() == -signal.SIGKILL
                kills += killed
                kept += killed and (tmp_path / "run" / "mark.json").exists()
                if killed:
                    continue
            assert process.wait(120) == 0
            break
    assert kept >= 1
    with np.load(tmp_path / "whole.npz") as first, np.load(tmp_path / "resumed.npz") as second:
        assert np.array_equal(first["c"], second["c"])
        assert np.array_equal(first["b"], second["b"])
    assert not Path(tmp_path / "run").exists()
