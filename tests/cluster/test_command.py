"""`mercer fit --cluster`: the same model as on one machine, and refusals in words."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.cluster.conftest import ROOT, Processes


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    with (tmp_path / "points.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["a", "b", "kind"])
        for a, b in rng.normal(size=(60, 2)).tolist():
            writer.writerow([a, b, "in" if a * a + b * b < 1 else "out"])
    return tmp_path / "points.csv"


def mercer(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mercer", *map(str, arguments)],
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )


def fitted(table: Path, name: str, *options: str) -> tuple[dict[str, Any], str]:
    model = table.parent / f"{name}.mercer"
    kernels = ("--kernel", "rbf", "--folds", "3", "--no-report", "--json")
    done = mercer("fit", table, "--target", "kind", "-o", model, *kernels, *options)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    for changing in ("seconds", "model", "code"):
        told.pop(changing)
    return told, done.stderr


def test_the_same_model_comes_out(table: Path, two_workers: Processes) -> None:
    here, _ = fitted(table, "here")
    there, said = fitted(table, "there", "--cluster", two_workers.address)
    for told in (here, there):
        for trial in told["comparison"]:
            trial.pop("seconds", None)
        told["certificate"].pop("seconds", None)
    assert here == there
    assert "cluster: " in said
    assert "sent to the cluster" in said


def test_what_is_no_cluster_is_refused_in_words(table: Path) -> None:
    done = mercer("fit", table, "--target", "kind", "--cluster", "local:many", "-o", table.parent / "m", "--no-report")
    assert done.returncode == 2
    assert "'local:N' needs a number of processes" in done.stderr
    assert "Traceback" not in done.stderr
