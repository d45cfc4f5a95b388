"""What commands load: seconds that users wait for before anything happens."""

import subprocess
import sys

import pytest

import mercer
from mercer.cli import app
from mercer.readers import read
from tests.cli.processes import ENVIRONMENT

_SCRIPT = """
import contextlib, io, sys
from mercer.cli import app
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    assert app.run(sys.argv[1:]) == 0
print(" ".join(name for name in ("sklearn", "scipy", "numba", "pandas", "matplotlib", "dask") if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("arguments", "allowed"),
    [
        (["--help"], set()),
        (["check", "pets.csv", "--target", "pet"], set()),
        (["predict", "model.mercer", "new.csv"], set()),
        (["predict", "model.mercer", "new.csv", "--reasons", "2", "--decisions", "--json"], {"scipy"}),
        (["evaluate", "model.mercer", "pets.csv"], set()),
        (["info", "model.mercer"], set()),
        (["info", "model.mercer", "--card"], set()),
    ],
)
def test_commands_load_only_what_they_need(arguments, allowed, model):
    found = subprocess.run(
        [sys.executable, "-c", _SCRIPT, *arguments],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env=ENVIRONMENT,
    )
    assert set(found.stdout.split()) <= allowed


def test_loaded_models_say_what_trained_ones_do(model, capsys):
    """The parts of a file predict as the estimator does that they are the parts of."""
    loaded = mercer.load(model)
    data = read("pets.csv", target="pet")
    objects = loaded.objects(data)
    assert (loaded.predict(data) == loaded.estimator.predict(objects)).all()
    assert (loaded.decisions(objects)[:, 0] == loaded.estimator.decision_function(objects)).all()
    assert loaded.machine.certificate.relative_gap == loaded.estimator.certificate_.relative_gap
    assert app.run(["check", "model.mercer"]) == 0
    assert "intact" in capsys.readouterr().out
