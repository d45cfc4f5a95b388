"""The memory of workers: kept while a task runs, and given back afterwards."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_CODE = """
import resource
import numpy as np
from mercer.cluster import memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        np.ones(2**18)  # 2 MB, too small for huge pages
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

print(faults())
with memory.kept(), memory.kept():
    faults()
    print(faults())
print(faults())
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the variable is one of the GNU C library")
def test_a_task_uses_its_memory_again_where_dask_gives_it_back_at_once() -> None:
    before, inside, after = _counted({"MALLOC_TRIM_THRESHOLD_": "65536"})
    if before < 10_000:
        pytest.skip("this C library has no such variable")
    assert inside < before / 20
    assert after > before / 2


def test_nothing_is_changed_where_the_library_decides_itself() -> None:
    _, inside, after = _counted({})
    assert after <= 2 * inside + 5_000


def _counted(environment: dict[str, str]) -> list[int]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    done = subprocess.run(
        [sys.executable, "-c", _CODE], capture_output=True, text=True, env=plain | environment, check=True
    )
    return [int(line) for line in done.stdout.split()]
