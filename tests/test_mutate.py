"""The script that plants bugs: its mutants are programs that differ, and it knows which tests notice them."""

from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = '''"""A module."""


def clipped(value: float, low: float = 0.0) -> float:
    """The value, or the bound."""
    if value < low and not value == 7:
        raise ValueError(f"below {low + 1}")
    total = min(value, 2 * low)
    total += 1
    return total
'''


@pytest.fixture(scope="module")
def mutate():
    loader = SourceFileLoader("mutate", str(ROOT / "scripts/mutate"))
    spec = spec_from_loader("mutate", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_tests_are_those_of_the_module_and_of_its_room(mutate):
    own, room = mutate.tests_of(Path("src/mercer/kernels/vectors/rbf.py"), "kernels/vectors")
    assert "tests/kernels/vectors/test_values.py" in own
    assert room[0] == "tests/kernels/vectors"
    assert "tests/conformance/test_kernels.py" in room
    assert mutate.tests_of(Path("src/mercer/testing/unknown.py"), "testing") == [["tests/conformance"]]
    assert mutate.tests_of(Path("src/mercer/kernels/none/unknown.py"), "kernels/none")[0][0] == "tests/kernels"
    for tests in (*own, *room):
        assert (ROOT / tests).exists()


def test_mutants_are_programs_with_one_change(mutate):
    found = mutate.mutants(SOURCE)
    texts = {text for _, text in found}
    assert len(texts) > 8
    for line, text in found:
        compile(text, "mutant", "exec")
        changed = [new for old, new in zip(SOURCE.splitlines(), text.splitlines(), strict=True) if old != new]
        assert len(changed) == 1
        assert SOURCE.splitlines()[line - 1] != text.splitlines()[line - 1]
    assert any("total -= 1" in text for text in texts)
    assert any("max(value" in text for text in texts)
    assert any("value <= low" in text for text in texts)
    assert not any("low - 1" in text for text in texts)  # words of messages


def test_rooms_share_mutants(mutate):
    pools = {"large": [("large", Path("a"), line, "") for line in range(900)], "small": [("small", Path("b"), 1, "")]}
    drawn = mutate.drawn(pools, 31, seed=0)
    assert sum(room == "large" for room, *_ in drawn) == 30
    assert drawn == mutate.drawn(pools, 31, seed=0) != mutate.drawn(pools, 31, seed=1)


def test_a_mutant_is_killed_by_a_test_that_fails(mutate, tmp_path):
    (tmp_path / "test_good.py").write_text("def test_one():\n    assert 1 + 1 == 2\n")
    (tmp_path / "test_bad.py").write_text("def test_one():\n    assert 1 + 1 == 3\n")
    assert mutate.survives(tmp_path, [["test_good.py"]], 60)
    assert not mutate.survives(tmp_path, [["test_good.py"], ["test_bad.py"]], 60)
    with pytest.raises(SystemExit, match="ended with 4"):
        mutate.survives(tmp_path, [["absent.py"]], 60)
