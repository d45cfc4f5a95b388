"""Shown work against the numbers of the machine, and against the lecture's conditions."""

import re

import numpy as np
import pytest

import mercer
from mercer import SVC, kernels
from mercer.errors import InputError

POINTS = [[0.0, 0.0], [1.0, 0.0], [3.0, 3.0], [4.0, 5.0]]
SIDES = [-1, -1, 1, 1]


def hard():
    return SVC(kernel="linear", C=np.inf, tol=1e-10).fit(POINTS, SIDES)


def test_every_step_is_there():
    shown = hard().show_work()
    text = str(shown)
    for step in (
        "Gram matrix",
        "dual problem",
        "Its solution",
        "b from each support vector",
        "optimality",
        "The margin",
    ):
        assert step in text
    assert "- alpha1 - alpha2 + alpha3 + alpha4 = 0" in text
    assert "18 alpha3^2" in text
    assert "- 6 alpha2 alpha3" in text
    assert repr(shown) == text == shown.text


def test_numbers_are_those_of_the_machine():
    model = hard()
    (problem,) = model.show_work().problems
    assert np.allclose(problem.K, np.array(POINTS) @ np.array(POINTS).T)
    assert problem.y.tolist() == SIDES
    assert np.allclose(problem.f, model.decision_function(POINTS))
    assert problem.alpha[model.support_] == pytest.approx(np.abs(model.dual_coef_[0]))
    assert problem.b == pytest.approx(model.intercept_[0])
    assert problem.norm == pytest.approx(np.linalg.norm(model.coef_))
    assert problem.primal == pytest.approx(problem.dual, rel=1e-6)
    found = [float(value) for value in re.findall(r"x\d:  b = .* = (-?[\d.]+)", model.show_work().text)]
    assert found == pytest.approx([problem.b] * 2, abs=1e-3)


def test_conditions_line_by_line():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [0.2, 0.1], [0.9, 0.8], [3, 3]])
    model = SVC(kernel=kernels.RBF(1.0), C=0.7, tol=1e-9).fit(X, list("abbaabb"))
    text = model.show_work().text
    lines = [line for line in text.splitlines() if "must be" in line]
    assert len(lines) == 7
    assert all(line.endswith("holds") for line in lines)
    (problem,) = model.show_work().problems
    for case, margin in zip(problem.cases(), problem.y * problem.f, strict=True):
        if case == "free":
            assert margin == pytest.approx(1.0, abs=1e-6)
        else:
            assert margin >= 1 - 1e-6 if case == "zero" else margin <= 1 + 1e-6
    assert "Classes b (y = +1) and a (y = -1)" in text


def test_a_wrong_solution_is_called_so():
    from dataclasses import replace

    from mercer.training.show_work_text import as_text

    (problem,) = hard().show_work().problems
    assert "VIOLATED" not in as_text(problem)
    assert "VIOLATED" in as_text(replace(problem, b=problem.b + 0.5))


def test_latex():
    latex = hard().show_work().latex
    assert latex.count("$$") % 2 == 0
    for command in (r"\begin{pmatrix}", r"\max_\alpha", r"b^* = y_{2}", r"\lVert w \rVert^2", r"x^\top z"):
        assert command in latex
    assert latex.count("{") == latex.count("}")
    assert hard().show_work()._repr_latex_() == latex


def test_pairs_weights_and_no_intercept():
    X = np.arange(9.0)[:, None]
    three = SVC(kernel="linear").fit(X, list("aaabbbccc")).show_work()
    assert len(three.problems) == 3
    assert [len(problem.y) for problem in three.problems] == [6, 6, 6]
    weighted = SVC(kernel="linear").fit(POINTS, SIDES, sample_weight=[1, 2, 1, 1]).show_work()
    assert weighted.problems[0].upper.tolist() == [1, 2, 1, 1]
    assert "0 <= alpha_i <= C_i" in str(weighted)
    assert "no intercept" in str(SVC(kernel="linear", fit_intercept=False).fit(POINTS, SIDES).show_work())
    words = SVC(kernel=kernels.Spectrum(2)).fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0])
    assert "spectrum(p=2)" in str(words.show_work())


def test_refusals(tmp_path):
    many = SVC().fit(np.arange(26.0).reshape(13, 2), [0, 1] * 6 + [0])
    with pytest.raises(InputError, match="up to 12 objects"):
        many.show_work()
    mercer.save(hard(), tmp_path / "model.mercer")
    with pytest.raises(InputError, match="fitted here"):
        mercer.load(tmp_path / "model.mercer").show_work()
    with pytest.raises(ValueError, match="not fitted"):
        SVC().show_work()
