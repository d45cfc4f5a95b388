"""The Python code that does what a command did."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.estimators.kernel_ridge import KernelRidge
from mercer.estimators.svc import SVC
from mercer.jobs.search import amounts_of, splits_of
from mercer.jobs.sizing import sample, taken
from mercer.kernels.base import Kernel
from mercer.readers.options import Options

if TYPE_CHECKING:
    from mercer.jobs.fitting import Outcome
    from mercer.jobs.posing import Plan, Problem

_METRICS = {
    ("classification", False): ("accuracy", "accuracy_score"),
    ("classification", True): ("balanced_accuracy", "balanced_accuracy_score"),
    ("regression", False): ("r2", "r2_score"),
    ("regression", True): ("r2", "r2_score"),
}


def equivalent(outcome: Outcome, path: str, reading: Options) -> str:
    """Reads the same file, prepares it in the same way and trains the same machine, without the search for it."""
    kernel, plan = outcome.search.best.kernel, outcome.plan
    made = outcome.model.estimator
    if isinstance(made, SVC):
        weight = ', class_weight="balanced"' if plan.balanced else ""
        trained = f"SVC(kernel=kernel, C={made.C!r}{weight})"
    elif isinstance(made, KernelRidge):
        trained = f"KernelRidge(alpha={made.alpha!r}, kernel=kernel, fit_intercept=True)"
    else:
        trained = f"SVR(C={made.C!r}, epsilon={made.epsilon!r}, tol={made.tol!r}, kernel=kernel)"
    return "\n".join(
        [
            f"from mercer import {type(made).__name__}",
            *_imports([kernel], "from mercer.jobs.preparation import Preparation"),
            "",
            *_prepared(path, reading, plan),
            f"kernel = {kernel!r}",
            f"model = {trained}.fit(prepare(data), data.labels)",
            "print(model.predict(prepare(data))[:5])",
        ]
    )


def comparing(problem: Problem, path: str, reading: Options) -> str:
    """One search for each kernel, over its penalties, on folds that all share; then the score of what was held out."""
    plan, task = problem.plan, problem.task
    rows = sample(problem.y, task, problem.searched_on, plan.seed)
    folds = len(splits_of(problem.y[rows], task, plan.folds, plan.seed))
    splitter = "StratifiedKFold" if task == "classification" else "KFold"
    name = problem.learner.penalty
    scoring, metric = _METRICS[task, plan.balanced]
    searched = taken(problem.objects, rows)
    tried = problem.learner.tried(problem.kernels[0])
    options = {key: value for key, value in tried.get_params(deep=False).items() if _chosen(tried, key, value)}
    made = ", ".join(["kernel=kernel", *(f"{key}={value!r}" for key, value in options.items())])
    owner = type(tried).__name__
    part = [
        f"rows = sample(y, {task!r}, {problem.searched_on}, {plan.seed})",
        "X, y = " + ("X.take(rows), y[rows]" if problem.preparation.kind != "gram" else "X[rows][:, rows], y[rows]"),
    ]
    return "\n".join(
        [
            f"from mercer import {', '.join(sorted(['KernelSearchCV', owner]))}",
            *_imports(
                problem.kernels,
                "from mercer.jobs.preparation import Preparation",
                *(["from mercer.jobs.sizing import sample"] if len(rows) < len(problem.y) else []),
            ),
            f"from sklearn.metrics import {metric}",
            f"from sklearn.model_selection import {splitter}",
            "",
            *_prepared(path, reading, plan),
            f"X, y = prepare(data), data.labels{'' if task == 'classification' else '.astype(float)'}",
            *(part if len(rows) < len(problem.y) else []),
            f"folds = {splitter}({folds}, shuffle=True, random_state={plan.seed})",
            "settings = [",
            *(
                f"    ({each!r}, {list(amounts_of(each, searched, problem.learner, plan.C))!r}),"
                for each in problem.kernels
            ),
            "]",
            "for kernel, penalties in settings:",
            f"    machine = {owner}({made})",
            "    search = KernelSearchCV(",
            f'        machine, {{"{name}": penalties}}, scoring="{scoring}", cv=folds, refit=False, held_out="predict"',
            "    )",
            "    predicted = search.fit(X, y).held_out_values()",
            f'    print(f"{{{metric}(y, predicted):.4f}}", search.best_params_["{name}"], kernel)',
        ]
    )


def diagnosing(path: str, reading: Options, plan: Plan, kernel: Kernel | None, y: Any) -> str:
    """A kernel judged on a file; without a kernel, the Gram matrix that the file holds."""
    asked = "prepare(data), " if kernel is None else "kernel, prepare(data), "
    return "\n".join(
        [
            "from mercer import diagnose",
            *_imports([kernel] if kernel is not None else [], "from mercer.jobs.preparation import Preparation"),
            "",
            *_prepared(path, reading, plan),
            *([f"kernel = {kernel!r}"] if kernel is not None else []),
            f"print(diagnose({asked}y={_targets(y)}, random_state={plan.seed}))",
        ]
    )


def diagnosing_model(
    model: str, seed: int, path: str | None = None, reading: Options | None = None, y: Any = None
) -> str:
    """A model's kernel judged on a file, or on the objects that it keeps."""
    if path is None or reading is None:
        lines = ["import mercer", "", f"model = mercer.load({model!r})"]
        objects, labels = "model.estimator.expansion_.support", "model.support_labels()"
    else:
        lines, objects, labels = _loaded(model, path, reading), "model.objects(data)", _targets(y)
    kernel = "kernel = model.estimator.expansion_.kernel.kernel"
    return "\n".join([*lines, kernel, f"print(mercer.diagnose(kernel, {objects}, {labels}, random_state={seed}))"])


def explaining(kernel: Kernel) -> str:
    """Why a kernel is one."""
    return "\n".join([*_imports([kernel], reads=False), "", f"kernel = {kernel!r}", "print(kernel.derivation())"])


def predicting(model: str, path: str, reading: Options) -> str:
    """Predictions of a file, all at once."""
    return "\n".join([*_loaded(model, path, reading), "print(model.predict(data)[:5])"])


def evaluating(model: str, path: str, reading: Options, task: str) -> str:
    """The score of a model on a file: the share that is right, or R^2."""
    metric = "accuracy_score" if task == "classification" else "r2_score"
    lines = _loaded(model, path, reading)
    return "\n".join([f"from sklearn.metrics import {metric}", "", *lines, _scored(metric)])


def _scored(metric: str) -> str:
    return f"print({metric}(data.labels, model.predict(data)))"


def _loaded(model: str, path: str, reading: Options) -> list[str]:
    return [
        "import mercer",
        "from mercer.readers import read",
        "",
        f"model = mercer.load({model!r})",
        f"data = read({path!r}{_settings(reading)})",
    ]


def _settings(reading: Options) -> str:
    """What differs from the defaults, as arguments."""
    fields = ((field.name, field.default) for field in dataclasses.fields(Options))
    return "".join(
        f", {name}={getattr(reading, name)!r}" for name, default in fields if getattr(reading, name) != default
    )


def _prepared(path: str, reading: Options, plan: Plan) -> list[str]:
    return [
        f"data = read({path!r}{_settings(reading)})",
        f"prepare = Preparation.learn(data, scale={plan.scale}, impute={plan.impute})",
    ]


def _targets(y: Any) -> str:
    if y is None:
        return "None"
    return "data.labels.astype(float)" if np.asarray(y).dtype.kind == "f" else "data.labels"


def _imports(kernels: Sequence[Kernel], *more: str, reads: bool = True) -> list[str]:
    """In the order in which tools sort them."""
    names = sorted({type(part).__name__ for kernel in kernels for part in _parts(kernel)})
    lines = [*more, *([f"from mercer.kernels import {', '.join(names)}"] if names else [])]
    return [*lines, "from mercer.readers import read"] if reads else lines


def _chosen(estimator: Any, name: str, value: Any) -> bool:
    """Whether a parameter other than the kernel differs from its default."""
    return name != "kernel" and value != type(estimator)().get_params(deep=False)[name]


def _parts(kernel: Kernel) -> list[Kernel]:
    found = [kernel]
    for child in kernel.children:
        found += _parts(child)
    return found
