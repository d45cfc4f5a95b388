"""Training from blocks stays within the memory that it was given."""

import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import sys
from mercer import KernelLogisticRegression, KernelRidge, blocks, kernels
learner, memory, folder = sys.argv[1:]
kernel = kernels.Nystrom(kernels.RBF(gamma=0.1), m=150)
data = blocks.of(f"{folder}/X.npy", f"{folder}/y.npy", rows=20_000)
make = {"ridge": KernelRidge, "logistic": KernelLogisticRegression}[learner]
few = blocks.of(data[0].objects[:3000], data.y[:3000], rows=1000)
for each in (KernelRidge, KernelLogisticRegression) if memory == "none" else (make,):
    each(kernel=kernel).fit(few)  # compiled, and every library loaded
if memory == "none":  # compiling takes more memory than what is measured: it is done in a run of its own
    sys.exit()
def peak():  # of this program alone: getrusage also counts the process that started it
    return int(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]) / 1024
open("/proc/self/clear_refs", "w").write("5")  # the peak begins anew
before = peak()
model = make(kernel=kernel, memory=float(memory)).fit(data)
print(peak() - before)
"""
N, VECTORS = 200_000, 20
"""Rows, of which features take 114 MiB; and numbers per row that are kept at most: targets, weights, penalties, codes,
lengths; and outputs, slopes and curvatures at two points, each in parts and as a whole while it is put together."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(N, 8)).astype(np.float32)
    np.save(place / "X.npy", rows)
    np.save(place / "y.npy", np.sign(np.sin(rows[:, 0]) + 0.1))
    assert said("ridge", "none", place) == ""
    return place


def said(learner, memory, folder):
    arguments = [sys.executable, "-c", SCRIPT, learner, str(memory), str(folder)]
    return subprocess.run(arguments, capture_output=True, check=True, text=True).stdout


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("learner", ["ridge", "logistic"])
def test_peak_of_memory(learner, folder):
    used = float(said(learner, 24, folder))
    kept = VECTORS * 8 * N / 2**20
    assert used < 24 + kept + 40
    if learner == "logistic":  # which keeps rows where it may, and is sooner done
        assert float(said(learner, 400, folder)) > used + 50
