"""Every learner and every function with a time limit, at sizes where the limit bites; `pytest -m long -s` tells all.

Nothing may take longer than its limit plus a second or a tenth. Learners that are iterative return a machine, the
others an error that says how far they came and what the whole would take.
"""

import inspect
import re
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning

import mercer
from mercer import _registry, kernels
from mercer.errors import MemoryBudgetError, TimeLimitError

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("ignore")]

RNG = np.random.default_rng(0)
SLOW = kernels.FromFunction(lambda x, z: time.sleep(0.002) or float(np.exp(-((x - z) ** 2).sum())))
"""A kernel that takes as long as a Python function of some substance."""
SIZES = [(30_000, 2.0), (100_000, 3.0), (100_000, 5.0)]
WITHOUT = {
    "KernelFisherDiscriminant",
    "KernelCCA",
    "KernelPCA",
    "SpectralClustering",
    "KernelRidgeCV",
    "KernelSearchCV",
}
"""Learners that are of no use before every entry of their matrix is known, or every fold was trained on: components,
cuts, and choices by cross-validation."""
LINEAR = {"LinearSVC", "LinearSVR", "PrimalPerceptron", "SubgradientSVM"}


def data(n: int) -> tuple[Any, Any, Any]:
    """Points in five dimensions, labels and targets, both with noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    noise = rng.normal(size=n)
    return X, (X[:, 0] + X[:, 1] ** 2 + noise > 1).astype(int), X[:, 0] + np.sin(2 * X[:, 1]) + 0.3 * noise


def learners(kernel: Any) -> dict[str, Any]:
    """Each registered learner with a kernel, and those that hold another learner."""
    found = {}
    for name, entry in _registry.ESTIMATORS.items():
        if name not in LINEAR:
            made = entry.load()
            named = inspect.signature(made).parameters
            clusters = {"n_clusters": 3} if "n_clusters" in named else {}
            components = {"n_components": 2} if name in ("KernelPCA", "KernelCCA") else {}
            found[name] = made(kernel=kernel, **clusters, **components)
    found["SVC, probability"] = mercer.SVC(kernel=kernel, probability=True)
    found["KernelSearchCV"] = mercer.KernelSearchCV(mercer.SVC(kernel=kernel), {"C": [1.0, 10.0]})
    return found


def act(learner: Any, X: Any, y: Any, target: Any) -> Callable[[], Any]:
    """What fits a learner to what it learns from."""
    name = type(learner).__name__
    if name == "KernelCCA":
        return lambda: learner.fit(X, X)
    return lambda: learner.fit(X, y if is_classifier(learner) else target)


def judge(name: str, limit: float, work: Callable[[], Any], *, wanted: bool) -> None:
    """It ends in time, with a result and a warning, or with an error that tells how long the whole would take."""
    began = time.monotonic()
    error, found = None, None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = work()
        except (TimeLimitError, MemoryBudgetError) as raised:
            error = raised
    took = time.monotonic() - began
    said = [str(one.message) for one in caught if issubclass(one.category, ConvergenceWarning)]
    said += [one.text for one in getattr(found, "findings", ()) if one.name == "time limit"]  # those of a diagnosis
    outcome = f"{type(error).__name__}: {error}" if error else f"{type(found).__name__}; {said[:1] or 'ended'}"
    sys.stderr.write(f"\n{name}, limit {limit:g} s: {took:.2f} s, {outcome}")
    assert took <= limit + max(1.0, 0.1 * limit)
    if error is not None:
        assert re.search(r"would take about|needs [\d.]+ .iB", str(error)), "no estimate"
        assert not wanted, "a model could be had"
    elif took > limit:
        assert said, "late without a word"


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Loops are compiled before anything is measured."""
    X, y, target = data(400)
    for learner in learners("rbf").values():
        act(learner, X, y, target)()
    mercer.diagnose(kernels.RBF(), X, y)
    mercer.mmd_test(X[:200], X[200:])
    mercer.check_mercer(kernels.RBF(), X)
    kernels.LocalAlignment().fit(["ACGT", "AGGT"])(["ACGT", "AGGT"])
    X, y, target = data(5_000)
    for learner in learners("rbf").values():
        if "time_limit" in learner.get_params():
            learner.set_params(time_limit=1.0)
            try:
                act(learner, X, y, target)()
            except (TimeLimitError, MemoryBudgetError):
                continue


@pytest.mark.parametrize(("n", "limit"), SIZES)
@pytest.mark.parametrize("name", learners("rbf"))
def test_many_objects(name: str, n: int, limit: float) -> None:
    learner = learners("rbf")[name].set_params(time_limit=limit)
    judge(f"{name} on {n:,} x 5", limit, act(learner, *data(n)), wanted=name not in WITHOUT)


@pytest.mark.parametrize("name", sorted(LINEAR))
def test_linear_learners(name: str) -> None:
    learner = _registry.ESTIMATORS[name].load()(time_limit=1.0)
    if "C" in learner.get_params():
        learner.set_params(C=1e6)
    X, y, target = np.repeat(data(100_000)[0], 40, axis=1), *data(100_000)[1:]
    judge(f"{name} on 100,000 x 200", 1.0, act(learner, X, y, target), wanted=True)


@pytest.mark.parametrize("name", learners("rbf"))
def test_a_python_function(name: str) -> None:
    learner = learners(SLOW)[name].set_params(time_limit=1.0)
    judge(f"{name}, 2 ms a pair", 1.0, act(learner, *data(300)), wanted=False)


@pytest.mark.parametrize("name", learners("rbf"))
def test_alignments_of_strings(name: str) -> None:
    rng = np.random.default_rng(0)
    words = ["".join(rng.choice(list("ACGT"), 400)) for _ in range(2000)]
    learner = learners(kernels.LocalAlignment())[name].set_params(time_limit=2.0)
    _, y, target = data(len(words))
    judge(f"{name} of 2,000 strings", 2.0, act(learner, words, y, target), wanted=False)


@pytest.mark.parametrize(("n", "limit"), SIZES)
@pytest.mark.parametrize(
    "name", ["check_mercer", "mmd_test", "hsic_test", "diagnose", "MultipleKernelMachine", "Cells"]
)
def test_functions(name: str, n: int, limit: float) -> None:
    X, y, _ = data(n)
    work = {
        "check_mercer": lambda: mercer.check_mercer(kernels.RBF(), X, time_limit=limit),
        "mmd_test": lambda: mercer.mmd_test(X[: n // 2], X[n // 2 :], time_limit=limit),
        "hsic_test": lambda: mercer.hsic_test(X, X[:, :2], time_limit=limit),
        "diagnose": lambda: mercer.diagnose(kernels.RBF(), X, y, time_limit=limit),
        "MultipleKernelMachine": lambda: mercer.MultipleKernelMachine(
            mercer.SVC(time_limit=limit), ["rbf", "linear"]
        ).fit(X, y),
        "Cells": lambda: mercer.Cells(mercer.SVC(time_limit=limit), 2000).fit(X, y),
    }[name]
    judge(f"{name} on {n:,} x 5", limit, work, wanted=False)
