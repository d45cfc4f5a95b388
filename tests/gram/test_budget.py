"""How much memory there is, and the refusal of what does not fit."""

import pathlib

import pytest

from mercer.errors import MemoryBudgetError, ParameterError
from mercer.gram import budget

GIB = 1024**3


@pytest.fixture
def machine(monkeypatch):
    """A machine with 8 GiB free, and files of our own where a container keeps its limits."""
    files = {}

    def read_text(self, *arguments, **options):
        if str(self) not in files:
            raise FileNotFoundError(self)
        return files[str(self)]

    monkeypatch.setattr(pathlib.Path, "read_text", read_text)
    monkeypatch.setattr(budget, "_system_bytes", lambda: 8 * GIB)
    return files


V2, V2_USED = "/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"
V1, V1_USED = "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({}, 8 * GIB),
        ({V2: f"{3 * GIB}\n", V2_USED: f"{GIB}\n"}, 2 * GIB),
        ({V2: "max\n", V2_USED: f"{GIB}\n"}, 8 * GIB),
        ({V1: f"{5 * GIB}\n", V1_USED: f"{GIB}\n"}, 4 * GIB),
        ({V1: "9223372036854771712\n", V1_USED: f"{GIB}\n"}, 8 * GIB),
        ({V2: "rubbish", V2_USED: ""}, 8 * GIB),
        ({V2: f"{GIB}\n", V2_USED: f"{2 * GIB}\n"}, budget.LEAST),  # over its limit already: never nothing
    ],
)
def test_containers(machine, files, wanted):
    machine.update(files)
    assert budget.available_bytes() == wanted


def test_half_of_what_is_available(machine):
    assert budget.stored_bytes("auto") == 4 * GIB
    assert budget.stored_bytes(200) == 200 * 2**20
    assert budget.stored_bytes(0.5) == 2**19


@pytest.mark.parametrize("memory", ["lots", 0, -1, float("nan"), float("inf"), None, True])
def test_budgets_that_are_none(memory):
    with pytest.raises(ParameterError, match="'memory' parameter of Gram must be"):
        budget.stored_bytes(memory)


def test_refusal_gives_the_numbers_and_the_way_out(machine):
    with pytest.raises(
        MemoryBudgetError, match=r"It needs 298\.0 GiB; the budget is 10\.0 MiB \(8\.0 GiB .*\)\. Do less\."
    ):
        budget.require(298 * GIB, 10 * budget.MIB, "It", "Do less.")
    budget.require(10, 10, "It", "")


def test_this_machine():
    assert budget.LEAST <= budget.available_bytes() < 2**50
