"""Formulas: proofs only of kernels, counterexamples only of others, and nothing that is not arithmetic."""

import ast

import numpy as np
import pytest

from mercer.studio.lab import formula, question
from mercer.studio.lab.question import is_kernel
from mercer.studio.refusal import Refusal

PROVEN = ["dot", "3", "dot + 1", "(dot + 1)**3", "2*dot*dot", "exp(dot)", "exp(-dist**2)", "exp(-dist)",
          "exp(-2*dist**1.5)",
          "1/(1 + dist**2)", "norm_x*norm_z", "dot/(norm_x*norm_z)", "exp(-dist**2/4) + dot", "exp(dot)/2"]  # fmt: skip
REFUTED = ["-dot", "dist", "-dist**2", "exp(-dist**3)", "tanh(dot)", "cos(dist)", "dot - 1", "norm_x", "log(dot)", "-1",
           "exp(dist)", "sqrt(dot)", "dot**3 - dot"]  # fmt: skip


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found does not depend on how busy the machine is: the number of tries is the only limit."""
    monkeypatch.setattr(question, "_SECONDS", 60.0)


@pytest.mark.parametrize("text", PROVEN)
def test_kernels_are_proven(text):
    told = is_kernel({"formula": text})
    assert told["verdict"] == "proven"
    assert told["proof"]
    rng = np.random.default_rng(1)
    for _ in range(20):
        K = formula.value(formula.read(text), rng.normal(size=(6, 2)))
        assert np.linalg.eigvalsh((K + K.T) / 2)[0] > -1e-9 * max(1.0, np.abs(K).max())


@pytest.mark.parametrize("text", REFUTED)
def test_others_are_refuted_by_a_counterexample_that_is_one(text):
    told = is_kernel({"formula": text})
    assert told["verdict"] == "refuted"
    K = formula.value(formula.read(text), np.array(told["points"]))
    if told["vector"]:
        v = np.array(told["vector"])
        assert v @ K @ v == pytest.approx(told["value"], rel=1e-6)
        assert told["value"] < 0
    else:
        assert not np.isfinite(K).all() or not np.allclose(K, K.T)


def test_the_honest_third_answer():
    told = is_kernel({"formula": "min(norm_x, norm_z)"})
    assert told["verdict"] == "not refuted"
    assert told["tries"] > 10


def test_registered_kernels():
    assert is_kernel({"formula": "rbf(gamma=1) * linear"})["verdict"] == "proven"
    assert is_kernel({"formula": "sigmoid(gamma=1)"})["verdict"] == "refuted"


@pytest.mark.parametrize(
    ("text", "position"),
    [("", 0), ("exp(", 3), ("dot + ", None), ("__import__('os')", 11), ("dot.real", 0), ("x", 0), ("exp(dot, 1)", 0),
     ("dot if dot else 1", 0), ("lambda: 1", None), ("dot[0]", 3), ("dot; dot", 3), ("open", 0), ("exp", 0),
     ("(" * 200, None),
     ("dot" + "+dot" * 200, 300), ("(lambda)", None), ("dot and dot", 0), ("dot == 1", 4), ("exp(x=dot)", 5)],
)  # fmt: skip
def test_what_is_no_formula(text, position):
    with pytest.raises(Refusal) as caught:
        is_kernel({"formula": text})
    assert caught.value.field == "formula"
    if position is not None:
        assert caught.value.position == position


def test_values_are_those_of_numpy():
    X = np.random.default_rng(0).normal(size=(5, 3))
    tree = formula.read("exp(-dist**2) + 2*dot/(norm_x*norm_z) - abs(dot)")
    dot = X @ X.T
    lengths = np.linalg.norm(X, axis=1)
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    expected = np.exp(-squared) + 2 * dot / np.outer(lengths, lengths) - np.abs(dot)
    np.testing.assert_allclose(formula.value(tree, X), expected, atol=1e-12)
    assert isinstance(tree, ast.BinOp)
