"""What `everyday.py` runs: our learners beside scikit-learn's with the same parameters, and data of every size."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

MERCER, SKLEARN, INTELEX = "mercer", "scikit-learn", "intelex"
FIT, PREDICT, ONE_ROW, DECISION = "fit", "predict", "one row", "decision"
PARTS = (FIT, PREDICT, ONE_ROW, DECISION)
MOST_NEW = 2_000
"""New rows to predict for: as many as were trained on, up to so many."""


@dataclass(frozen=True)
class Size:
    """Rows and columns; of sparse rows also how many entries each has."""

    n: int
    d: int
    stored: int = 0

    def __str__(self) -> str:
        return f"{self.n} x {self.d}{' sparse' if self.stored else ''}"


SIZES = (
    Size(60, 4),
    Size(300, 10),
    Size(1_000, 20),
    Size(1_000, 500),
    Size(4_000, 20),
    Size(4_000, 200),
    Size(20_000, 20),
    Size(300, 80, 8),
    Size(1_000, 400, 20),
    Size(4_000, 10_000, 50),
    Size(20_000, 10_000, 50),
)


@dataclass(frozen=True)
class Case:
    """Learners that do the same, by system, and what they are given."""

    name: str
    systems: Mapping[str, Callable[[], Any]]
    target: str = "2 classes"
    """A number of classes, "numbers", or "none"."""
    parts: tuple[str, ...] = (FIT, PREDICT, ONE_ROW)
    answer: str = "predict"
    """The method, or the fitted attribute, whose values are compared."""
    most: int = 20_000
    """More objects would not fit into memory, or would take everyone minutes."""
    sparse: bool = True
    precomputed: bool = False


@dataclass(frozen=True)
class Data:
    """Rows to train on, their targets, and new rows."""

    X: Any
    y: Any
    new: Any


@cache
def data(size: Size, target: str) -> Data:
    """Overlapping clouds, or a wavy surface with noise; the same on every machine."""
    random = np.random.default_rng(0)
    rows = size.n + min(size.n, MOST_NEW)
    X = _sparse_rows(size, rows, random) if size.stored else random.normal(size=(rows, size.d))
    if target == "none":
        return Data(X[: size.n], None, X[size.n :])
    if target == "numbers":
        plane = np.asarray(X @ random.normal(size=size.d)) / np.sqrt(size.stored or size.d)
        y = np.sin(2 * plane) + plane + 0.1 * random.normal(size=rows)
        return Data(X[: size.n], y[: size.n], X[size.n :])
    classes = int(target.split()[0])
    scores = np.asarray(X @ random.normal(size=(size.d, classes)))
    scores /= scores.std()
    y = (scores + 0.5 * random.normal(size=scores.shape)).argmax(axis=1)
    y[:classes] = np.arange(classes)  # every class occurs
    return Data(X[: size.n], y[: size.n], X[size.n :])


def _sparse_rows(size: Size, rows: int, random: np.random.Generator) -> Any:
    columns = np.minimum(random.geometric(8 / size.d, size=rows * size.stored) - 1, size.d - 1)
    values = np.abs(random.normal(size=len(columns)))
    place = np.repeat(np.arange(rows), size.stored)
    return sp.csr_matrix((values, (place, columns)), shape=(rows, size.d))


def squared_products(left: Any, right: Any) -> Any:
    """A kernel as users write one."""
    return (left @ right.T + 1.0) ** 2


def laplacian(left: Any, right: Any) -> Any:
    """The Laplacian kernel, which scikit-learn's machines take as a function."""
    from sklearn.metrics.pairwise import laplacian_kernel

    return laplacian_kernel(left, right)


def _svm(name: str, options: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Machines of one name in all systems; `others` are parameters that only the peers have otherwise."""
    from sklearn import svm

    import mercer

    theirs = options if others is None else others
    found = {MERCER: partial(getattr(mercer, name), **options), SKLEARN: partial(getattr(svm, name), **theirs)}
    try:
        import sklearnex.svm as intel
    except ImportError:
        return found
    if hasattr(intel, name) and not name.startswith("Linear"):
        found[INTELEX] = partial(getattr(intel, name), **theirs)
    return found


def _pair(ours: Callable[[], Any], theirs: Callable[[], Any]) -> dict[str, Callable[[], Any]]:
    return {MERCER: ours, SKLEARN: theirs}


def cases() -> list[Case]:
    """All of them; imports happen here."""
    return [*_classifiers(), *_regressors(), *_linear(), *_unsupervised(), *_searches()]


def _classifiers() -> list[Case]:
    from mercer import kernels

    every = (FIT, PREDICT, ONE_ROW, DECISION)
    svc = partial(Case, parts=every, answer="decision_function")
    kinds: list[tuple[str, dict[str, Any]]] = [
        ("linear", {"kernel": "linear"}),
        ("rbf", {}),
        ("rbf, C=100", {"C": 100.0}),
        ("poly 2", {"kernel": "poly", "degree": 2, "coef0": 1.0}),
        ("poly 3", {"kernel": "poly"}),
    ]
    found = [svc(f"SVC({name})", _svm("SVC", options)) for name, options in kinds]
    found.append(svc("SVC(sigmoid)", _svm("SVC", {"kernel": "sigmoid", "gamma": 0.01}), most=4_000))
    own = _svm("SVC", {"kernel": kernels.Laplacian(gamma="auto")}, {"kernel": laplacian})
    found.append(svc("SVC(laplacian)", own, most=1_000, sparse=False))
    found.append(svc("SVC(callable)", _svm("SVC", {"kernel": squared_products}), most=4_000, sparse=False))
    found.append(
        svc("SVC(precomputed)", _svm("SVC", {"kernel": "precomputed"}), most=4_000, sparse=False, precomputed=True)
    )
    found.append(svc("SVC(rbf), 4 classes", _svm("SVC", {}), "4 classes", answer="predict"))
    found.append(svc("SVC(linear), 4 classes", _svm("SVC", {"kernel": "linear"}), "4 classes", answer="predict"))
    found.append(svc("SVC(poly 3), 10 classes", _svm("SVC", {"kernel": "poly"}), "10 classes", answer="predict"))
    found.append(svc("SVC(rbf), 26 classes", _svm("SVC", {}), "26 classes", answer="predict"))
    found.append(svc("SVC(rbf), 100 classes", _svm("SVC", {}), "100 classes", answer="predict", most=4_000))
    found.append(svc("NuSVC(rbf)", _svm("NuSVC", {"nu": 0.3})))
    likely = _svm("SVC", {"probability": True, "random_state": 0})
    found.append(svc("SVC(rbf, probability)", likely, answer="predict_proba", most=4_000))
    return found


def _regressors() -> list[Case]:
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import RidgeCV

    import mercer
    from mercer import kernels

    numbers = partial(Case, target="numbers")
    widths: dict[str, Any] = {"kernel": "rbf", "gamma": 0.05}
    rough = partial(mercer.KernelRidge, kernel=kernels.Laplacian(gamma="auto"))
    alphas = {"alphas": (0.1, 1.0, 10.0)}
    return [
        numbers("SVR(rbf)", _svm("SVR", {})),
        numbers("SVR(linear)", _svm("SVR", {"kernel": "linear"}), most=4_000),
        numbers("NuSVR(rbf)", _svm("NuSVR", {})),
        numbers(
            "KernelRidge(rbf)", _pair(partial(mercer.KernelRidge, **widths), partial(KernelRidge, **widths)), most=4_000
        ),
        numbers("KernelRidge(laplacian)", _pair(rough, partial(KernelRidge, kernel="laplacian")), most=1_000),
        numbers(
            "KernelRidgeCV(linear)",
            _pair(partial(mercer.KernelRidgeCV, fit_intercept=True, **alphas), partial(RidgeCV, **alphas)),
            most=4_000,
        ),
    ]


def _linear() -> list[Case]:
    from sklearn.linear_model import LogisticRegression

    import mercer

    def logistic(tol: float) -> dict[str, Callable[[], Any]]:
        return _pair(
            partial(mercer.KernelLogisticRegression, kernel="linear", tol=tol),
            partial(LogisticRegression, tol=tol, max_iter=10_000),
        )

    svc = partial(Case, parts=PARTS, answer="decision_function")
    return [
        svc("LinearSVC", _svm("LinearSVC", {"random_state": 0})),
        svc("LinearSVC(hinge)", _svm("LinearSVC", {"loss": "hinge", "max_iter": 20_000, "random_state": 0})),
        svc("LinearSVC, 10 classes", _svm("LinearSVC", {"random_state": 0}), "10 classes", answer="predict"),
        Case("LinearSVR", _svm("LinearSVR", {"random_state": 0, "max_iter": 20_000}), "numbers"),
        svc("logistic(linear)", logistic(1e-4)),
        svc("logistic(linear), 4 classes", logistic(1e-4), "4 classes", answer="predict"),
    ]


def _unsupervised() -> list[Case]:
    from sklearn.cluster import KMeans, SpectralClustering
    from sklearn.decomposition import KernelPCA

    import mercer

    four: dict[str, Any] = {"n_components": 4, "kernel": "rbf", "gamma": 0.05, "random_state": 0}
    graph: dict[str, Any] = {"n_clusters": 3, "gamma": 0.1, "random_state": 0}
    alone = partial(Case, target="none")
    return [
        alone("OneClassSVM(rbf)", _svm("OneClassSVM", {}), parts=PARTS, answer="decision_function"),
        alone(
            "KernelPCA(rbf)",
            _pair(partial(mercer.KernelPCA, **four), partial(KernelPCA, **four)),
            answer="transform",
            most=4_000,
        ),
        alone(
            "SpectralClustering(rbf)",
            _pair(partial(mercer.SpectralClustering, kernel="rbf", **graph), partial(SpectralClustering, **graph)),
            parts=(FIT,),
            answer="labels_",
            most=1_000,
            sparse=False,
        ),
        alone(
            "KernelKMeans(linear)",
            _pair(
                partial(mercer.KernelKMeans, 3, kernel="linear", random_state=0),
                partial(KMeans, 3, n_init=10, random_state=0),
            ),
            answer="predict",
            most=4_000,
        ),
    ]


class Scores:
    """`cross_val_score` as something that is fitted."""

    def __init__(self, machine: Any) -> None:
        self.machine = machine

    def fit(self, X: Any, y: Any) -> Any:
        from sklearn.model_selection import cross_val_score

        self.scores_ = cross_val_score(self.machine, X, y)
        return self


def _searches() -> list[Case]:
    from sklearn import svm
    from sklearn.model_selection import GridSearchCV

    import mercer

    grid = {"C": [0.1, 1.0, 10.0], "gamma": [0.01, 0.1]}
    theirs = partial(GridSearchCV, svm.SVC(), grid)
    search = partial(Case, answer="best_score_", most=1_000)
    return [
        search("GridSearchCV(SVC)", _pair(partial(GridSearchCV, mercer.SVC(), grid), theirs)),
        search("KernelSearchCV(SVC)", _pair(partial(mercer.KernelSearchCV, mercer.SVC(), grid), theirs)),
        Case(
            "cross_val_score(SVC)",
            _pair(partial(Scores, mercer.SVC()), partial(Scores, svm.SVC())),
            parts=(FIT,),
            answer="scores_",
            most=4_000,
        ),
    ]


def suits(case: Case, size: Size) -> bool:
    """Whether a case is run at a size."""
    words = case.target.split()
    enough = not words[0].isdigit() or 3 * int(words[0]) <= size.n
    return enough and size.n <= case.most and (case.sparse or not size.stored)
