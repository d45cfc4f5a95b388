"""`mercer kernels`."""

import json

import pytest

from mercer._registry import KERNELS
from mercer.cli import app


def test_every_registered_kernel_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["kernel", *(entry.text for entry in KERNELS.values())]
    assert all(line == line.rstrip() for line in lines)
    assert next(line for line in lines if line.startswith("spectrum ")).split()[1] == "strings"


def test_lines_fold_where_the_terminal_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[bool] = []
    monkeypatch.setattr("mercer.cli.output.write_table", lambda table, *, fold: told.append(fold))
    assert app.run(["kernels"]) == 0
    assert told == [True]


def test_list_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["schema_version"] == 1
    assert [kernel["class"] for kernel in told["kernels"]] == list(KERNELS)


@pytest.mark.parametrize("name", [name for entry in KERNELS.values() for name in (entry.text, entry.name)])
def test_every_kernel_is_described(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels", name]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("kernels.")
    assert len(out.splitlines()) >= 4
    assert "`" not in out
    assert err == ""


def test_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels", "rbf"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("kernels.RBF(gamma='scale', over=None)\n")
    assert "exp(-gamma |x - z|^2)" in out
    assert "array([[0.606531]])" in out
    assert "\n\n>>> " in out  # the example is a paragraph of its own
    assert app.run(["kernels", "rbf", "--json"]) == 0
    kernel = json.loads(capsys.readouterr().out)["kernel"]
    assert kernel["parameters"][0] == {"name": "gamma", "required": False, "default": "'scale'"}
    assert kernel["example"].startswith(">>> ")


def test_required_parameters_are_said_to_be(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels", "on", "--json"]) == 0
    parameters = json.loads(capsys.readouterr().out)["kernel"]["parameters"]
    assert {"name": "columns", "required": True, "default": None} in parameters


@pytest.mark.parametrize("name", ["rbff", "RBFF"])
def test_unknown_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels", name]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        f"error: there is no kernel {name!r}",
        "hint: Did you mean 'rbf'? `mercer kernels` lists them all.",
    ]


def test_expressions_are_read(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["kernels", "rbf(gamma=0.1) + 0.5*linear"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("rbf(gamma=0.1) + 0.5*linear(), on vectors\n")
    assert "RBF(gamma=0.1" in out
    assert app.run(["kernels", "rbf(gamma=0.1)", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kernel"]["positive_semi_definite"] is True
    assert app.run(["kernels", "rbf(gamma=)"]) == 2
    assert "character" in capsys.readouterr().err
