"""The worker's side: every line gets one line, whatever is in it."""

import io
import json

import pytest

from mercer.studio import desk


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
    for method in desk.METHODS:
        assert "answer" in desk.answer(json.dumps({"method": method, "told": {}})) or method != "warm"


def test_a_bug_is_an_answer_and_a_traceback(monkeypatch, capsys):
    monkeypatch.setitem(desk.METHODS, "broken", "tests.studio.test_desk:broken")
    told = desk.answer('{"method": "broken", "told": {}}')["error"]
    assert told["unexpected"]
    assert "ZeroDivisionError" in told["message"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def broken(told):
    return 1 / 0
