"""The worker's side: every line gets one line, whatever is in it."""

import importlib
import io
import json
import subprocess
import sys

import pytest

from mercer.studio import desk
from mercer.studio.lab.warming import STEPS
from mercer.studio.worker import COMPILING
from tests.cli.processes import ENVIRONMENT


@pytest.mark.parametrize(
    "line", ["", "x", "[]", "{}", '{"method": "nothing"}', '{"method": 3}', '{"method": []}', "null"]
)
def test_lines_that_are_no_questions(line):
    assert "cannot be read" in desk.answer(line)["error"]["message"]


def test_a_question_without_fields():
    assert "object of fields" in desk.answer('{"method": "complete"}')["error"]["message"]


def test_one_line_for_each_line():
    answers = io.StringIO()
    questions = [json.dumps({"method": "complete", "told": {"text": "li"}}), "nonsense", ""]
    desk.serve(io.StringIO("\n".join(questions) + "\n"), answers)
    lines = [json.loads(line) for line in answers.getvalue().splitlines()]
    assert len(lines) == 3
    assert lines[0]["answer"][0]["text"] == "linear"
    assert "error" in lines[1]


def test_every_method_exists():
    for method, place in desk.METHODS.items():
        module, _, name = place.partition(":")
        assert callable(getattr(importlib.import_module(module), name)), method


def test_every_step_of_warming_the_lab_is_answered():
    step = 0
    while desk.answer(json.dumps({"method": "warm_lab", "told": {"step": step}}))["answer"]:
        step += 1
    assert step == len(STEPS) - 1


def test_compiling_is_told_once_for_each_question():
    program = """
import sys, json
from mercer._jit import jit, tell_when_compiling
told = []
tell_when_compiling(lambda: told.append("compiling"))
@jit(cache=False)
def twice(x):
    return 2 * x
twice(1.0)
twice(2.0)
print(len(told))
twice(1)
print(len(told))
"""
    run = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["1", "2"]
    answers = io.StringIO()
    stream = desk.Told(answers)
    for line in ("1", "2"):
        stream.compiling()
        stream.compiling()
        stream.write(f"{line}\n")
    assert answers.getvalue().splitlines() == ['{"compiling": true}', "1", '{"compiling": true}', "2"]
    assert COMPILING.decode().strip() == '{"compiling": true}'


def test_a_bug_is_an_answer_and_a_traceback(monkeypatch, capsys):
    monkeypatch.setitem(desk.METHODS, "broken", "tests.studio.test_desk:broken")
    told = desk.answer('{"method": "broken", "told": {}}')["error"]
    assert told["unexpected"]
    assert "ZeroDivisionError" in told["message"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def broken(told):
    return 1 / 0
