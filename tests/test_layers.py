"""The import contracts of pyproject.toml catch what they are for: small packages, each planted with one breach."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ROOMS = ["inputs", "kernels", "gram", "losses", "solvers", "estimators", "cli"]

pytest.importorskip("importlinter")


def lint(folder: Path, files: dict[str, str]) -> tuple[bool, str]:
    package = folder / "mercer"
    for room in [".", *ROOMS, "kernels/strings", "kernels/vectors", "kernels/documents"]:
        (package / room).mkdir(parents=True, exist_ok=True)
        (package / room / "__init__.py").touch()
    for name in ("errors.py", "_check.py", "kernels/base.py", "kernels/vectors/rbf.py"):
        (package / name).touch()
    for name, text in files.items():
        (package / name).parent.mkdir(exist_ok=True)
        (package / name).write_text(text)
    shutil.copy(ROOT / "pyproject.toml", folder)
    command = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    result = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"solvers/smo.py": "import mercer.gram\nimport mercer.losses\n", "estimators/svc.py": "import sklearn\n"},
        {"kernels/documents/tfidf.py": "def f():\n    import sklearn.feature_extraction.text\n"},
        {
            "kernels/base.py": "def f():\n    import mercer.kernels.algebra\n",
            "kernels/algebra.py": "import mercer.kernels.base\n",
            "kernels/strings/spectrum.py": "import mercer.kernels.base\n",
        },
    ],
    ids=["bare", "downwards", "documents-sklearn", "base-and-algebra"],
)
def test_kept(files: dict[str, str], tmp_path: Path) -> None:
    kept, output = lint(tmp_path, files)
    assert kept, output


@pytest.mark.parametrize(
    "files",
    [
        {"kernels/strings/spectrum.py": "import mercer.gram\n"},
        {"losses/hinge.py": "import mercer.gram\n"},
        {"gram/matrix.py": "def f():\n    import mercer.estimators\n"},
        {"_progress.py": "", "_jit.py": "import mercer._progress\n"},
        {"kernels/strings/spectrum.py": "import mercer.kernels.vectors.rbf\n"},
        {"kernels/strings/spectrum.py": "def f():\n    from mercer.kernels.vectors import rbf\n"},
        {"kernels/algebra.py": "def examples():\n    import mercer.kernels.vectors.rbf\n"},
        {"kernels/features.py": "import mercer.kernels.strings\n"},
        {"gram/matrix.py": "import sklearn\n"},
        {"kernels/strings/spectrum.py": "def f():\n    import sklearn.svm\n"},
        {"solvers/smo.py": "import dask.array\n"},
        {"attic/__init__.py": ""},
    ],
    ids=lambda files: next(iter(files)) + "-" + " ".join(next(iter(files.values())).split()),
)
def test_broken(files: dict[str, str], tmp_path: Path) -> None:
    kept, output = lint(tmp_path, files)
    assert not kept
    assert "BROKEN" in output, output
