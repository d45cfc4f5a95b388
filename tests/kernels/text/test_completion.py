"""Completions fit: what they propose is read by `parse`, or is a parameter of the call around the caret."""

import pytest

from mercer._registry import KERNELS
from mercer.kernels.text.completion import complete
from mercer.kernels.text.expression import maker_of, parameters_of


def texts(text, caret=None):
    return [found.text for found in complete(text, caret)]


def test_names_that_begin_alike_come_first():
    assert texts("sp")[:2] == ["spline", "spectrum"]
    assert "blended_spectrum" in texts("sp")
    assert "rbf" not in texts("rbf")


def test_the_word_before_the_caret_is_replaced():
    found = complete("0.5*rb + linear", 6)[0]
    assert (found.text, found.start, found.kind) == ("rbf", 4, "kernel")


def test_parameters_of_the_innermost_call():
    assert texts("rbf(")[:2] == ["gamma=", "over="]
    assert "gamma=" not in texts("rbf(gamma=1, ")
    assert texts("normalise(spectrum(")[0] == "p="
    assert "p=" not in texts("normalise(spectrum(p=3)")
    assert texts("poly(de")[0] == "degree="


@pytest.mark.parametrize("text", ["rbf(gamma=0.1", "rbf(gamma=1)", "on('co", 'on("', "no_such(", "3", "linear "])
def test_nothing_where_nothing_fits(text):
    assert [found for found in complete(text) if found.kind == "parameter"] == []


@pytest.mark.parametrize("text", ["on('mass, rb", 'on("mass, rb', "on(['a', \"b, rb"])
def test_nothing_inside_a_string(text):
    assert complete(text) == []


def test_lists_and_brackets_of_no_call():
    assert [found.kind for found in complete("on([") if found.kind == "parameter"] == []
    assert [found.kind for found in complete("(") if found.kind == "parameter"] == []
    assert "gamma=" in texts("2*(linear + rbf(over=(spectrum(p=3)), ")


def test_after_a_value_only_operators_stand():
    assert complete("rbf(gamma=1)") == []
    assert texts("rbf(gamma=1) + li")[0] == "linear"


@pytest.mark.parametrize("entry", KERNELS.values(), ids=lambda entry: entry.text)
def test_every_proposed_parameter_exists(entry):
    known = parameters_of(maker_of(entry.text))
    proposed = [found.text for found in complete(f"{entry.text}(") if found.kind == "parameter"]
    assert proposed == [f"{name}=" for name in known]


def test_any_caret_in_any_text():
    text = "normalise(spectrum(p=4)) * on(['a', \"b\"], rbf) + 2**"
    for caret in range(-2, len(text) + 3):
        for found in complete(text, caret):
            assert 0 <= found.start <= len(text)
