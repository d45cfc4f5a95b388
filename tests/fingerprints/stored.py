"""Model files as this version wrote them, with what they predict: later versions must read them and say the same."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mercer
from mercer import kernels
from tests.fingerprints.machines import fitted
from tests.fingerprints.measure import outputs
from tests.fingerprints.problems import problem

FOLDER = Path(__file__).parent / "models"
EXPECTED = FOLDER / "expected.json"


def _mixture() -> Any:
    parts = [kernels.RBF(0.1), kernels.RBF(1.0), "linear"]
    return mercer.MultipleKernelMachine(mercer.SVC(), parts)


MODELS: dict[str, tuple[Callable[[], Any], str, str]] = {
    "svc-strings": (
        lambda: mercer.SVC(kernel=problem("strings").kernel, probability=True, random_state=0),
        "strings",
        "three",
    ),
    "ridge-table": (lambda: mercer.KernelRidge(kernel=problem("tables").kernel), "tables", "number"),
    "pca-graphs": (lambda: mercer.KernelPCA(2, kernel=problem("graphs").kernel), "graphs", ""),
    "linear-documents": (lambda: mercer.LinearSVC(kernel=kernels.VectorSpace()), "documents", "three"),
    "logistic-vectors": (lambda: mercer.KernelLogisticRegression(C=5.0), "vectors", "three"),
    "one-class-sets": (lambda: mercer.OneClassSVM(kernel=problem("sets").kernel, nu=0.2), "sets", ""),
    "mixture-vectors": (_mixture, "vectors", "two"),
    "nu-svr-series": (lambda: mercer.NuSVR(kernel=problem("series").kernel), "series", "number"),
    "perceptron-trees": (lambda: mercer.KernelPerceptron(kernel=problem("trees").kernel, epochs=5), "trees", "two"),
    "nu-svc-precomputed": (lambda: mercer.NuSVC(kernel="precomputed", nu=0.3), "precomputed", "three"),
    "landmarks-vectors": (lambda: mercer.SVC(kernel=kernels.Nystrom(kernels.RBF(), m=12)), "vectors", "three"),
    "ridge-chosen": (lambda: mercer.KernelRidgeCV(kernel="rbf", fit_intercept=True), "vectors", "number"),
}
"""Name -> how the model was made, the problem whose new objects it predicts, and what it learnt to predict."""


def predicted(name: str, model: Any) -> dict[str, list[Any]]:
    return {key: values.tolist() for key, values in outputs(model, problem(MODELS[name][1]).new).items()}


def write_missing() -> None:
    """Files that exist stay: they stand for what users have on their disks."""
    expected = json.loads(EXPECTED.read_text(encoding="utf-8")) if EXPECTED.exists() else {}
    FOLDER.mkdir(exist_ok=True)
    for name, (make, kind, target) in MODELS.items():
        path = FOLDER / f"{name}.mercer"
        if path.exists():
            continue
        data = problem(kind)
        model = fitted(make(), data, getattr(data, target) if target else None)
        mercer.save(model, path)
        expected[name] = predicted(name, model)
    EXPECTED.write_text(json.dumps(expected, sort_keys=True, indent=1) + "\n", encoding="utf-8")
