"""scikit-learn's tests of its support vector machines, run with Mercer's in their place."""

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.estimators.replaced_svm import KNOWN

ROOT = Path(__file__).resolve().parents[2]
WANTED = 120
"""Of the 128 tests of scikit-learn 1.9."""


def run(folder):
    command = [sys.executable, "-m", "pytest", "-p", "tests.estimators.replaced_svm", "-p", "no:cacheprovider", "-q",
               "--pyargs", "sklearn.svm.tests.test_svm", "--rootdir", str(folder)]  # fmt: skip
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)


def test_scikit_learns_own_tests(tmp_path):
    done = run(tmp_path)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert int(re.search(r"(\d+) passed", done.stdout)[1]) >= WANTED


def test_every_difference_is_documented():
    page = (ROOT / "docs" / "drop-in.md").read_text()
    for name in KNOWN:
        assert f"`{name}`" in page, name
