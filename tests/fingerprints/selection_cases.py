"""Searches, learnt kernels, comparisons, and the measures of kernels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

import mercer
from mercer import kernels
from tests.fingerprints.machines import TOL, fitted
from tests.fingerprints.measure import Fingerprint, of_model, sketch
from tests.fingerprints.problems import problem

MIXTURES: dict[str, Any] = {
    "vectors": [kernels.RBF(0.1), kernels.RBF(1.0), "linear"],
    "strings": [kernels.normalise(kernels.Spectrum(p)) for p in (1, 2, 3)],
    "tables": [kernels.on("sequence", kernels.Spectrum(3)), kernels.on(["warmth", "acidity"], kernels.RBF(0.5))],
}
FOLDS = KFold(3, shuffle=True, random_state=0)


def mixture(kind: str, method: str, inner: Any, target: str) -> Fingerprint:
    data = problem(kind)
    machine = mercer.MultipleKernelMachine(inner, MIXTURES[kind], method=method)
    return of_model(fitted(machine, data, getattr(data, target)), data.new)


def search(kind: str, estimator: Any, grid: dict[str, Any], target: str, **options: Any) -> Fingerprint:
    """Scores of all settings, the best one, and what it predicts."""
    data = problem(kind)
    found = mercer.KernelSearchCV(estimator, grid, cv=FOLDS, n_jobs=1, **options)
    fitted(found, data, getattr(data, target))
    scores = sketch("scores", found.cv_results_["mean_test_score"], 12)
    return scores | {"best": str(found.best_params_)} | of_model(found, data.new)


def nested() -> Fingerprint:
    data = problem("vectors")
    inner = mercer.KernelSearchCV(mercer.SVC(tol=TOL), {"C": [0.1, 1.0, 10.0], "gamma": [0.1, 0.5]}, cv=FOLDS)
    return sketch("scores", mercer.nested_cross_validate(inner, data.train, data.two, cv=FOLDS).scores)


def compared() -> Fingerprint:
    data = problem("strings")
    table = mercer.compare(MIXTURES["strings"], data.train, data.two, cv=FOLDS)
    found: Fingerprint = {"order": " ".join(row.name for row in table.rows)}
    for name in ("scores", "C", "alignment"):
        found |= sketch(name, np.ravel([getattr(row, name) for row in table.rows]), 12)
    return found


def alignments() -> Fingerprint:
    data = problem("vectors")
    K, L = (kernels.RBF(gamma).fit(data.train)(data.train) for gamma in (0.1, 1.0))
    found = sketch("alignment", [mercer.alignment(K, L), mercer.centred_alignment(K, L)])
    found |= sketch("target", [mercer.kernel_target_alignment(K, data.two == "yes", centre=c) for c in (True, False)])
    vectors = mercer.feature_vectors(K)
    return found | sketch("features", vectors @ vectors.T)


def samples() -> Fingerprint:
    data = problem("vectors")
    mmd = mercer.mmd_test(data.train[:30], data.train[30:] + 0.3, "rbf", permutations=99, random_state=0)
    hsic = mercer.hsic_test(data.train, data.number[:, None], "rbf", "rbf", permutations=99, random_state=0)
    return sketch("mmd", [mmd.statistic, mmd.p_value]) | sketch("hsic", [hsic.statistic, hsic.p_value])


def checks() -> Fingerprint:
    data = problem("vectors")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diagnosis = mercer.diagnose(kernels.RBF(0.3), data.train, data.two)
    found: Fingerprint = {"diagnosis": diagnosis.verdict}
    found |= sketch("shape", [diagnosis.shape.mean_similarity, diagnosis.shape.participation, diagnosis.shape.decay])
    for kernel in (kernels.RBF(0.3), kernels.Sigmoid(gamma=0.5, coef0=-1.0)):
        check = mercer.check_mercer(kernel, data.train)
        found |= {f"{kernel}": check.verdict} | sketch(f"{kernel} spectrum", [check.smallest, check.largest])
    return found


def learnt() -> Fingerprint:
    data = problem("vectors")
    mixed = mercer.learn_kernel(MIXTURES["vectors"], data.train, data.two, method="alignment")
    return sketch("gram", mixed.fit(data.train)(data.train))


def cases() -> Iterator[tuple[str, Callable[[], Fingerprint]]]:
    for method in ("uniform", "alignment", "margin"):
        for kind in MIXTURES:
            yield (
                f"MultipleKernelMachine of SVC on {kind} ({method})",
                lambda kind=kind, method=method: mixture(kind, method, mercer.SVC(tol=TOL), "two"),
            )
    yield (
        "MultipleKernelMachine of SVC on vectors (three classes)",
        lambda: mixture("vectors", "alignment", mercer.SVC(tol=TOL), "three"),
    )
    yield (
        "MultipleKernelMachine of KernelRidge on tables",
        lambda: mixture("tables", "alignment", mercer.KernelRidge(), "number"),
    )
    svc, grid = mercer.SVC(tol=TOL), {"C": [0.1, 1.0, 10.0], "gamma": [0.05, 0.5]}
    yield "KernelSearchCV of SVC on vectors", lambda: search("vectors", svc, grid, "three")
    yield "KernelSearchCV of SVC on vectors, cold", lambda: search("vectors", svc, grid, "two", warm_start=False)
    yield "KernelSearchCV of SVC on vectors, racing", lambda: search("vectors", svc, grid, "two", racing=True)
    yield (
        "KernelSearchCV of SVC on strings",
        lambda: search("strings", mercer.SVC(kernel=kernels.Spectrum(2)), {"kernel__p": [1, 2, 3]}, "two"),
    )
    yield (
        "KernelSearchCV of KernelRidge on vectors",
        lambda: search(
            "vectors", mercer.KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0], "gamma": [0.1, 1.0]}, "number"
        ),
    )
    yield (
        "KernelSearchCV of KernelLogisticRegression on documents",
        lambda: search(
            "documents",
            mercer.KernelLogisticRegression(kernel=kernels.VectorSpace(), tol=TOL),
            {"C": [0.1, 10.0]},
            "three",
            scoring="neg_log_loss",
        ),
    )
    yield "nested_cross_validate", nested
    yield "compare", compared
    yield "alignment", alignments
    yield "mmd_test and hsic_test", samples
    yield "check_mercer and diagnose", checks
    yield "learn_kernel", learnt
