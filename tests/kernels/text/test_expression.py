"""Kernels from text: what is read, what is refused, and where the error points."""

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mercer import kernels
from mercer._registry import KERNELS
from mercer.errors import ParameterError
from mercer.kernels import Kernel
from mercer.kernels.text.expression import MAX_CHARACTERS, MAX_NODES
from mercer.testing.examples import examples_of
from tests.oracles.kerneltrees import Tree, build, trees

A, B = kernels.Linear(), kernels.RBF(gamma=0.1)
EXAMPLES = [kernel for entry in KERNELS.values() for kernel in examples_of(entry.load())]


def test_the_example_of_the_documentation() -> None:
    found = kernels.parse("rbf(gamma=0.1) + 0.5*poly(degree=2)**2")
    assert found == kernels.RBF(gamma=0.1) + 0.5 * kernels.Polynomial(degree=2) ** 2


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("rbf", kernels.RBF()),
        ("RBF(0.1)", B),
        (" rbf (\n gamma = 1e-1 ,\t) ", B),
        ("rbf(over=linear, gamma='median')", kernels.RBF(gamma="median", over=A)),
        ("2*linear*rbf(0.1)", kernels.Product((2.0 * A, B))),
        ("linear*(2*rbf(0.1))", kernels.Product((A, 2.0 * B))),
        ("linear + 1", A + 1.0),
        (".5 + linear", 0.5 + A),
        ("(linear**2)**3", (A**2) ** 3),
        ("power(linear, 2)", A**2),
        ("sum([linear, rbf(0.1)])", A + B),
        ("normalise(exp(centre(linear)))", kernels.normalise(kernels.exp(kernels.centre(A)))),
        ("on('col', spectrum(p=2))", kernels.on("col", kernels.Spectrum(p=2))),
        ("on(['a', \"b\"], rbf(0.1))", kernels.on(["a", "b"], B)),
        ("on(('a',), rbf(0.1)) * on('s', spectrum)", kernels.on("a", B) * kernels.on("s", kernels.Spectrum())),
        ("polynomial_of(linear, [1, 0, 2.5])", kernels.PolynomialOf(A, (1.0, 0.0, 2.5))),
        ("dag([('s', 'a', linear), ('a', 't', rbf(0.1))])", kernels.dag([("s", "a", A), ("a", "t", B)])),
        ("poly(coef0=--1.0)", kernels.Polynomial()),
        ("on('été\\u3000\\'', linear)", kernels.on("été\u3000'", A)),
    ],
)
def test_reads(text: str, kernel: Kernel) -> None:
    assert kernels.parse(text) == kernel


@pytest.mark.parametrize("kernel", EXAMPLES, ids=str)
def test_every_registered_kernel_comes_back_or_says_why_not(kernel: Kernel) -> None:
    if "<" in str(kernel):
        with pytest.raises(ParameterError, match="array or a function, which has no text form"):
            kernels.parse(str(kernel))
    else:
        assert kernels.parse(str(kernel)) == kernel


def nested(children: st.SearchStrategy[Kernel]) -> st.SearchStrategy[Kernel]:
    pairs = st.tuples(children, children)
    numbers = st.floats(1e-300, 1e300)
    return st.one_of(
        pairs.map(lambda two: two[0] + two[1]),
        pairs.map(lambda two: two[0] * two[1]),
        pairs.map(kernels.Sum),  # not flattened
        pairs.map(kernels.Product),
        st.builds(kernels.Scaled, children, numbers),
        st.builds(kernels.Power, children, st.integers(0, 10**6)),
        st.builds(lambda kernel, value: kernel + value, children, numbers),
        st.builds(kernels.PolynomialOf, children, st.lists(numbers, min_size=1, max_size=3)),
        st.builds(lambda kernel: kernels.dag([(0, 1, kernel), ("s", 0, kernel)], sink=1), children),
        children.map(kernels.centre),
        children.map(kernels.normalise),
        children.map(kernels.exp),
        st.builds(kernels.RBF, numbers, children),
    )


vector_kernels = st.recursive(
    st.one_of(
        st.just(A),
        st.builds(kernels.RBF, st.floats(1e-300, 1e300) | st.sampled_from(["scale", "median", "auto"])),
        st.builds(kernels.Polynomial, st.integers(0, 99), st.just("scale"), st.floats(0, 1e300)),
    ),
    nested,
    max_leaves=6,
)
table_kernels = st.builds(kernels.on, st.text(min_size=1, max_size=4).filter(str.isprintable), vector_kernels)


@settings(max_examples=150, deadline=None)
@given(vector_kernels | table_kernels | st.tuples(table_kernels, table_kernels).map(kernels.Product))
def test_text_comes_back(kernel: Kernel) -> None:
    text = str(kernel)
    assume(len(text) <= MAX_CHARACTERS and len(re.findall(r"\w+|[^\w\s,]", text)) <= MAX_NODES)
    found = kernels.parse(text)
    assert found == kernel
    assert str(found) == text
    assert hash(found) == hash(kernel)


def around(kernel: Kernel) -> list[Kernel]:
    """The kernel in every place where another can stand."""
    one = kernels.dag([("s", "a", kernel), ("a", "t", B)])
    return [
        *(kernel + B, B + kernel, kernel * B, B * kernel, 2.0 * kernel, kernel + 1.0, 1.0 + kernel, kernel**2),
        *(kind(terms) for kind in (kernels.Sum, kernels.Product) for terms in ((kernel, B), (B, kernel))),
        *(kernels.exp(kernel), kernels.normalise(kernel), kernels.centre(kernel), kernels.RBF(gamma=0.5, over=kernel)),
        *(kernels.PolynomialOf(kernel, (1.0,)), one),
    ]


def test_every_construction_inside_every_other_comes_back() -> None:
    inside = [outer for inner in around(A) for outer in around(inner)]
    deeper = [outer for middle in inside[::5] for outer in around(middle)]
    assert len(inside) + len(deeper) > 1400
    for kernel in inside + deeper:
        assert kernels.parse(str(kernel)) == kernel


@settings(max_examples=100, deadline=None)
@given(trees(3))
def test_what_operators_build_comes_back(tree: Tree) -> None:
    kernel = build(tree)
    if len(str(kernel)) < 200:
        assert kernels.parse(str(kernel)) == kernel


def test_numpy_numbers_are_written_as_numbers() -> None:
    kernel = kernels.Scaled(kernels.RBF(gamma=np.float64(0.5)), np.float32(2.0))  # type: ignore[arg-type]
    assert str(kernel) == "2.0*rbf(gamma=0.5)"


def test_arrays_and_functions_are_named() -> None:
    from mercer.kernels.text.form import text_of_value

    assert text_of_value(np.zeros((2, 3))) == "<array of shape (2, 3)>"
    assert text_of_value(len) == "<function len>"
    assert text_of_value((1, (2.5, None), "a'b", {1})) == '(1, (2.5, None), "a\'b", <set>)'


def pointed(text: str) -> tuple[str, str]:
    """The message, and what stands at the caret."""
    with pytest.raises(ParameterError) as caught:
        kernels.parse(text)
    message, shown, caret = str(caught.value).rsplit("\n", 2)
    return message, (shown + " ")[caret.index("^") :]


@pytest.mark.parametrize(
    ("text", "words", "at"),
    [
        ("linear + rbff(gamma=0.1)", "Did you mean 'rbf'?", "rbff"),
        ("rbf(gama=0.1)", "rbf has no parameter 'gama'. Did you mean 'gamma'? It has gamma, over.", "gama"),
        ("linear(2)", "takes at most 0 parameters: none", "2"),
        ("linear(a=2)", "It has none", "a=2"),
        ("rbf(0.1, linear, 3)", "at most 2", "3"),
        ("rbf(gamma=1, gamma=2)", "'gamma' is given twice", "gamma=2"),
        ("rbf(1, gamma=2)", "'gamma' is given twice", "gamma=2"),
        ("poly(degree=2, coef0=-1.0)", "The 'coef0' parameter of Polynomial", "coef0"),
        ("poly(2, 'scal')", "'gamma'", "'scal'"),
        ("linear + spectrum", "one kind of objects", "spectrum"),
        ("linear**0.5", "fractional power", "0.5"),
        ("linear**rbf", "whole number on its right", "rbf"),
        ("2**linear", "a kernel on its left", "linear"),
        ("linear * -2", "negative multiple", "-2"),
        ("linear - rbf", "differences and quotients are not kernels", "rbf"),
        ("-linear", "minus sign", "-linear"),
        ("linear + 'x'", "neither a kernel nor a number", "'x'"),
        ("True * linear", "neither a kernel nor a number", "True"),
        ("2 * 3 * linear", "numbers are not computed", "2 * 3"),
        ("1.5", "1.5 is not a kernel", "1.5"),
        ("[linear]", "is not a kernel", "[linear]"),
        ("normalise()", "normalise needs kernel", "normalise"),
        ("power(linear)", "power needs exponent", "power"),
        ("rank_one(f)", "Unknown kernel 'f'", "f)"),
        ("rank_one(<function f>)", "has no text form", "<"),
        ("on(5, linear)", "The 'columns' parameter of on must be a column name", "5"),
        ("rbf(gamma=0.1", "'(' is never closed", "(gamma"),
        ("rbf(gamma=[0.1)", "')' closes nothing", ")"),
        ("rbf)", "')' closes nothing", ")"),
        ("rbf linear", "out of place", "linear"),
        ("linear + ", "out of place", ""),
        ("on('a, linear)", "not closed", "'a"),
        ("rbf(gamma=1; 2)", "';' is not allowed", ";"),
        ("rbf.gamma", "'.' is not allowed", "."),
        ("2rbf", "follows without a space", "rbf"),
        ("f'x'", "follows without a space", "'x'"),
        ("1_000*rbf", "follows without a space", "_000"),
        ("0x10*rbf", "follows without a space", "x10"),
        ("rbf(*[1])", "are read here", "*[1]"),
        ("rbf(**linear)", "one by one", "**linear"),
        ("rbf if rbf else rbf", "are read here", "rbf if"),
        ("rbf == rbf", "are read here", "rbf =="),
        ("rbf()()", "are read here", "rbf"),
        ("linear or rbf", "are read here", "linear"),
        ("été", "'é' is not allowed", "é"),
        ("on('é', rbff)", "Did you mean 'rbf'?", "rbff"),
        ("", "it is empty", ""),
        (" \n ", "it is empty", ""),
    ],
)
def test_errors_point_at_the_character(text: str, words: str, at: str) -> None:
    message, found = pointed(text)
    assert words in message
    assert found.startswith(at)


def test_errors_in_long_texts_show_the_neighbourhood() -> None:
    message, found = pointed(" + ".join(["linear()"] * 20) + " + rbff(gamma=1) + " + " + ".join(["linear()"] * 10))
    assert "Did you mean 'rbf'?" in message
    assert found.startswith("rbff")


@pytest.mark.parametrize("raw", [None, 3, b"rbf", ["rbf"], kernels.RBF()])
def test_what_is_no_text_is_refused(raw: Any) -> None:
    with pytest.raises(ParameterError, match="must be a kernel expression"):
        kernels.parse(raw)


def test_parse_is_found_without_loading_anything() -> None:
    code = (
        "import sys, mercer.kernels as k; assert 'parse' in dir(k); "
        "assert 'numba' not in sys.modules and 'mercer.kernels.text.expression' not in sys.modules; k.parse('linear')"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
