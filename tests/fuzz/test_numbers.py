"""Learners x kernels x scales x shapes x types: no crash, no NaN, no false claim, and laws that hold for any numbers.

A thousand problems run with the other tests; ``MERCER_FUZZ_CASES=100000 pytest tests/fuzz`` runs as many as asked. A
problem that fails is told by its number: ``case(number)`` is the same on every machine.
"""

from __future__ import annotations

import dataclasses
import os
import warnings

import numpy as np
import pytest
import sklearn.svm

from mercer.errors import KernelWarning, MercerError

from .cases import LEARNERS, Case, case
from .oracle import gram, truth

CASES = int(os.environ.get("MERCER_FUZZ_CASES", "1000"))
CHUNK = 50
EXACT = ("SVC", "SVR", "KernelLogisticRegression", "KernelRidge")
"""Those whose objectives the oracle knows; of others, `verify` is asked."""
SLACK = 1e-8
"""Of the terms of an objective: what may be lost of sums of some of them."""


def fitted(one: Case):
    """The learner and whether it says that it converged; None where it refuses the problem in words."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", KernelWarning)
        try:
            model = one.fitted()
        except MercerError:  # an answer in words
            return None, False
    other = [str(one.message) for one in told if "did not converge" not in str(one.message)]
    assert not other, other
    return model, not told


def check(number: int) -> None:
    one = case(number)
    model, converged = fitted(one)
    if model is None:
        return
    proof = model.certificate_
    predicted = model.decision_function(one.values()) if one.classifies else model.predict(one.values())
    assert np.isfinite(predicted).all()
    assert np.isfinite([proof.primal, proof.dual, proof.kkt_violation]).all()
    if one.learner not in EXACT:
        again = model.verify(one.values(), *(() if one.learner == "OneClassSVM" else (one.y,)), one.weights)
        slack = SLACK * max(abs(proof.primal), abs(proof.dual))
        assert again.dual <= proof.primal + slack
        assert proof.dual <= again.primal + slack
        assert proof.dual <= proof.primal + slack
        return
    true = truth(one, model)
    slack = SLACK * true.scale
    assert proof.dual <= (nearly_optimal(one) if true.beyond else true.dual) + slack
    assert true.primal <= proof.primal + slack
    assert proof.dual <= proof.primal + slack
    if converged and one.learner != "KernelRidge":
        assert true.violation <= one.tol * (1 + 1e-6) + true.lost
    if converged and one.learner in ("SVC", "SVR"):  # what a violation of tol can cost, however large its share is
        assert proof.primal - proof.dual <= one.tol * one.C * one.weights.sum() + slack
    laws(one, proof, slack, number)


def nearly_optimal(one: Case) -> float:
    """The objective of a better machine, which bounds the optimum from above."""
    better = dataclasses.replace(one, tol=1e-6 * one.tol)
    return truth(better, fitted(better)[0]).primal


def overlap(one: Case, proof, slack: float, factor: float = 1.0) -> None:
    """Two machines for one problem: no interval between dual and primal may lie beyond the other."""
    other, _ = fitted(one)
    assert other is not None
    assert factor * other.certificate_.dual <= proof.primal + slack
    assert proof.dual <= factor * other.certificate_.primal + slack


def laws(one: Case, proof, slack: float, number: int) -> None:
    n, law = len(one.X), number % 5
    everything = np.arange(n)
    if law == 0:
        overlap(one.with_objects(np.random.default_rng(number).permutation(n)), proof, slack)
    elif law == 1:  # weights are repetition
        repeated = np.repeat(everything, one.weights.astype(int))
        overlap(one.with_objects(repeated, weights=np.ones(len(repeated))), proof, slack)
    elif law == 2:  # every object twice, at half the penalty
        overlap(one.with_objects(np.tile(everything, 2), C=one.C / 2), proof, slack)
    elif law == 3 and one.kernel != "polynomial":  # other units, by a power of two: nothing is rounded
        factor = 4.0 if one.kernel == "linear" else 1.0
        changed = dataclasses.replace(one, X=2 * one.X, gamma=one.gamma / 4, C=one.C / factor)
        overlap(changed, proof, slack, factor)
    elif law == 4 and one.learner in ("SVC", "SVR"):
        peer(one, proof, slack)


def peer(one: Case, proof, slack: float) -> None:
    """The dual objective of scikit-learn's solution is below ours of the primal, on the same matrix."""
    K = np.asarray(gram(one), dtype=np.float64)
    if not one.intercept or one.C * np.abs(K).max() > 1e4:
        return
    options = {"kernel": "precomputed", "C": one.C, "tol": 1e-6 * one.tol, "max_iter": 100_000}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if one.learner == "SVC":
            other = sklearn.svm.SVC(**options).fit(K, one.y, one.weights)
        else:
            other = sklearn.svm.SVR(epsilon=one.epsilon, **options).fit(K, one.y, one.weights)
    b = np.zeros(len(K))
    b[other.support_] = other.dual_coef_[0]
    price = np.abs(b).sum() if one.learner == "SVC" else b @ one.y - one.epsilon * np.abs(b).sum()
    assert price - b @ K @ b / 2 <= proof.primal + slack + 1e-6 * abs(proof.primal)


@pytest.mark.parametrize("chunk", range(-(-CASES // CHUNK)))
def test_no_number_is_false(chunk):
    wrong = []
    for number in range(chunk * CHUNK, min((chunk + 1) * CHUNK, CASES)):
        try:
            check(number)
        except Exception as failure:
            wrong.append(f"case({number}): {type(failure).__name__} {failure}"[:600])
    assert not wrong, f"{len(wrong)} of {CHUNK}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("number", [11745, 27877, 29931, 30327])
def test_what_was_found_once(number):
    """Bounds above the objective: where terms cancel to the last digit, and beyond the domain of the dual."""
    check(number)


def test_every_learner_and_law_is_met():
    met = {case(number).learner for number in range(200)}
    assert met == set(LEARNERS)


def test_false_claims_are_noticed():
    """The oracle against a certificate that is wrong by a thousandth."""
    number = next(number for number in range(100) if case(number).learner == "SVC")
    one = case(number)
    model, _ = fitted(one)
    true = truth(one, model)
    better = dataclasses.replace(model.certificate_, primal=0.999 * true.primal)
    assert not true.primal <= better.primal + SLACK * true.scale
