"""What commands on files cannot do: one line that says so, and an exit code of its own."""

import pytest

from mercer.cli import app


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["fit", "nothing.csv", "-t", "pet"], 3, "no such file"),
        (["fit", "pets.csv"], 3, "which column is the target"),
        (["fit", "pets.csv", "-t", "pte"], 3, "there is no column"),
        (["fit", "pets.csv", "-t", "pet", "--kernel", "rbff"], 2, "rbff"),
        (["fit", "pets.csv", "-t", "pet", "--kernel", "__import__('os')"], 2, "kernel"),
        (["fit", "pets.csv", "-t", "pet", "--task", "clustering"], 2, "no task"),
        (["fit", "pets.csv", "-t", "pet", "-o", "missing/model.mercer"], 5, "Cannot save"),
        (["info", "pets.csv"], 5, "pets.csv"),
        (["predict", "nothing.mercer", "new.csv"], 5, "nothing.mercer"),
    ],
)
def test_refusals(arguments, code, message, here, capsys):
    assert app.run(arguments) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert message in err


def test_conversion_needs_what_the_other_side_has(model, capsys):
    assert app.run(["convert", str(model), "x.model"]) == 3
    assert "--no-scale" in capsys.readouterr().err
    assert app.run(["convert", "nothing", "x.model"]) == 2
