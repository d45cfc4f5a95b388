"""Nothing that the public interface computes has changed: see README.md for what may be done when something has."""

import json

import numpy as np
import pytest

import mercer
from mercer._registry import ESTIMATORS, KERNELS
from tests.fingerprints import record, stored
from tests.fingerprints.cases import CASES, SIGNS, VIOLATED, VIOLATION, tolerance, unit

EXPECTED = json.loads(record.STORED.read_text(encoding="utf-8"))
PREDICTED = json.loads(stored.EXPECTED.read_text(encoding="utf-8"))

ROUNDING = 1e-12
"""Of decision values, which are about 1 where there is anything to decide."""


def rounding_alone(decisions):
    """Whether these decision values are all zero but for rounding, so that their signs mean nothing."""
    return len(decisions) > 0 and np.abs(np.array(decisions, dtype=float)).max() < ROUNDING


def complaints(case, found, expected):
    """Every difference that counts, in words."""
    lines = [f"{key}: gone" for key in sorted(expected.keys() - found.keys())]
    lines += [f"{key}: new" for key in sorted(found.keys() - expected.keys())]
    undecided = all(rounding_alone(one.get("decision_function", ())) for one in (found, expected))
    for key in sorted(found.keys() & expected.keys()):
        if undecided and key in SIGNS:
            continue
        now, then = found[key], expected[key]
        if isinstance(now, str) or isinstance(then, str) or len(now) != len(then):
            lines += [f"{key}: {now!r}, was {then!r}"] if now != then else []
            continue
        if key.endswith("kkt_violation"):
            lines += [f"{key}: {now}, was {then}"] if not now[0] <= VIOLATED * max(then[0], VIOLATION) else []
            continue
        now, then = np.array(now, dtype=float), np.array(then, dtype=float)
        finite = np.isfinite(then)
        scale = max(np.abs(then[finite]).max(initial=0.0), unit(key))
        if not np.allclose(now / scale, then / scale, rtol=0.0, atol=tolerance(case, key), equal_nan=True):
            lines.append(f"{key}: {now.tolist()}, was {then.tolist()}")
    return lines


def test_every_case_is_stored_and_nothing_else():
    assert sorted(CASES) == sorted(EXPECTED), "record anew (see README.md)"


def test_everything_public_has_a_case():
    for name in (*ESTIMATORS, "KernelSearchCV", "MultipleKernelMachine"):
        assert any(case.split()[0] == name for case in CASES), name
    assert {f"kernel {name}" for name in KERNELS} <= set(CASES)


@pytest.mark.parametrize("case", sorted(EXPECTED))
def test_case(case):
    found = CASES[case]()
    lines = complaints(case, record.rounded(found), EXPECTED[case])
    layouts = [value for key, value in found.items() if key.startswith("~") and key.endswith("file structure")]
    told = "\nlayout of the file now: ".join(["", *layouts]) if any("file structure" in line for line in lines) else ""
    assert not lines, "\n".join(lines) + told


@pytest.mark.parametrize("name", sorted(stored.MODELS))
def test_models_of_an_earlier_version(name):
    model = mercer.load(stored.FOLDER / f"{name}.mercer")
    predicted = stored.predicted(name, model)
    assert predicted.keys() == PREDICTED[name].keys()
    for key, values in predicted.items():
        np.testing.assert_allclose(values, PREDICTED[name][key], rtol=1e-9, atol=1e-9, err_msg=key)


def test_every_stored_model_is_tried_and_small():
    files = list(stored.FOLDER.glob("*.mercer"))
    assert sorted(path.stem for path in files) == sorted(stored.MODELS) == sorted(PREDICTED)
    assert all(path.stat().st_size < 32_000 for path in files)


THEN = {"predict": [1.0, 2.0], "file structure": "abc", "dual_coef_": [1.0], "kkt_violation": [1e-9]}


class TestComparing:
    """The comparison itself sees differences: in numbers, in texts, in names, in length."""

    @pytest.mark.parametrize(
        "now",
        [
            {"predict": [1.0, 2.0001]}, {"predict": [1.0]}, {"predict": [1.0, float("nan")]},
            {"predict": [-1.0, -2.0]}, {"file structure": "abd"}, {"dual_coef_": [1.01]}, {"kkt_violation": [1e-3]},
            {"other": [1.0]},
        ],
        ids=str,
    )  # fmt: skip
    def test_what_counts(self, now):
        assert complaints("any", THEN | now, THEN)

    def test_signs_of_nothing(self):
        nothing = THEN | {"decision_function": [1e-15, -1e-15]}
        assert complaints("any", nothing | {"predict": [-1.0, 1.0]}, nothing) == []
        assert complaints("any", nothing | {"dual_coef_": [2.0]}, nothing)
        assert complaints("any", nothing, nothing | {"decision_function": [1e-15, 1.0]})

    @pytest.mark.parametrize("now", [{"predict": [1.0, 2.000002]}, {"kkt_violation": [2e-6]}], ids=str)
    def test_what_does_not(self, now):
        assert complaints("any", THEN | now, THEN) == []

    def test_exact_records(self, tmp_path):
        one, other = tmp_path / "one", tmp_path / "other"
        record.write_lines(one, {"a": record.exact({"x": [1.0, 2.0]}), "b": record.exact({"x": "t"})})
        record.write_lines(other, {"a": record.exact({"x": [1.0, 2.0 + 4e-16]}), "c": {}})
        assert record.differences(one, one) == []
        assert record.differences(one, other) == [f"only in {one}: b", f"only in {other}: c", "a: x 2.2e-16"]
