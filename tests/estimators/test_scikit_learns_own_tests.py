"""scikit-learn's tests of its SVC, run with Mercer's in its place."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_scikit_learns_own_tests(tmp_path):
    command = [sys.executable, "-m", "pytest", "-p", "tests.estimators.replaced_svc", "-p", "no:cacheprovider", "-q",
               "--pyargs", "sklearn.svm.tests.test_svm", "--rootdir", str(tmp_path)]  # fmt: skip
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert " passed" in done.stdout
