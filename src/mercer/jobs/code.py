"""Python code that does the same as a command."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.jobs.folds import folds_for
from mercer.jobs.sizing import sample
from mercer.jobs.ways import LANDMARKS
from mercer.kernels.base import Kernel
from mercer.readers.options import Options

if TYPE_CHECKING:
    from mercer.jobs.fitting import Outcome
    from mercer.jobs.problem import Plan, Problem


def equivalent(outcome: Outcome, path: str, reading: Options) -> str:
    """Code that reads the same file, prepares it in the same way and trains the same machine, without the search."""
    trained, made, problem = outcome.trained, outcome.model.estimator, outcome.problem
    if outcome.model.about["objects"] > len(problem.y):
        return _from_a_large_file(problem, path, reading)
    kernel = trained.way.kernel(trained.kernel)
    inner = getattr(made, "estimator", made)
    machine = _constructor(inner, "kernel=kernel")
    if inner is not made:
        machine = f"Cells({machine}, size={made.size}, random_state={made.random_state})"
    weighted = problem.data.weights is not None
    sampling = ["from mercer.jobs.sizing import held_out"] if len(outcome.held_out) else []
    linked, in_blocks = bool(problem.link.name), trained.way.kind == LANDMARKS
    labels, said = "np.log(data.labels)" if linked else "data.labels", "model.predict(prepare(data))[:5]"
    return "\n".join(
        [
            *(["import numpy as np"] if sampling or linked else []),
            f"from mercer import {', '.join([*_names(inner, made), *(['blocks'] if in_blocks else [])])}",
            *_imports([kernel], "from mercer.jobs.preparation import Preparation", *_single(problem), *sampling),
            "",
            *_prepared(path, reading, problem.plan, problem),
            f"kernel = {kernel!r}",
            *(
                [
                    f"held = held_out(data.labels, {problem.task!r}, {problem.search_size}, {problem.plan.seed})",
                    "rows = np.setdiff1d(np.arange(len(data)), held)",
                ]
                if sampling
                else []
            ),
            f"model = {machine}.fit({_training(labels, bool(sampling), weighted, in_blocks)})",
            f"print(np.exp(np.clip({said}, {problem.link.low}, {problem.link.high})))" if linked else f"print({said})",
        ]
    )


def _from_a_large_file(problem: Problem, path: str, reading: Options) -> str:
    """Code that does all of it again: preparation and training need the sample and the whole file."""
    plan = {field.name: getattr(problem.plan, field.name) for field in dataclasses.fields(problem.plan)}
    usual = {field.name: field.default for field in dataclasses.fields(problem.plan)}
    chosen = "".join(f", {name}={value!r}" for name, value in plan.items() if value != usual[name])
    return f"import mercer\n\noutcome = mercer.fit({path!r}{_settings(reading)}{chosen})\nprint(outcome)"


def _names(*machines: Any) -> list[str]:
    """Of their classes, each once, as tools sort them."""
    return sorted({type(machine).__name__ for machine in machines}, key=lambda name: (not name.isupper(), name))


def _training(labels: str, sampled: bool, weighted: bool, in_blocks: bool) -> str:
    """What a machine is given."""
    objects, part = ("prepare(data).take(rows)", "[rows]") if sampled else ("prepare(data)", "")
    if in_blocks:
        return f"blocks.of({objects}, {labels}{part}{f', data.weights{part}' if weighted else ''})"
    return f"{objects}, {labels}{part}{f', sample_weight=data.weights{part}' if weighted else ''}"


def comparing(problem: Problem, path: str, reading: Options) -> str:
    """Code that compares the same kernels on the same folds."""
    plan, task = problem.plan, problem.task
    if not _is_plain(problem):
        return _searching(problem, path, reading)
    rows = sample(problem.y, task, problem.search_size, plan.seed)
    grouped = problem.data.groups is not None
    folds = 0 if grouped else len(folds_for(problem.y[rows], task, plan.folds, plan.seed))
    splitter = "StratifiedKFold" if task == "classification" else "KFold"
    machine = problem.learner.compared(problem.kernels[0])
    sampled = len(rows) < len(problem.y)
    part = [
        f"rows = sample(y, {task!r}, {problem.search_size}, {plan.seed})",
        "X, y = " + ("X.take(rows), y[rows]" if problem.preparation.kind != "gram" else "X[rows][:, rows], y[rows]"),
    ]
    preparation = "from mercer.jobs.preparation import Preparation"
    sampling = "from mercer.jobs.sizing import sample"
    return "\n".join(
        [
            f"from mercer import {type(machine).__name__}, compare",
            *_imports(problem.kernels, preparation, *_single(problem), *([sampling] if sampled else [])),
            "from mercer.jobs.folds import folds_for" if grouped else f"from sklearn.model_selection import {splitter}",
            "",
            *_prepared(path, reading, plan, problem),
            f"X, y = prepare(data), data.labels{'' if task == 'classification' else '.astype(float)'}",
            *(part if sampled else []),
            *([f"groups = data.groups{'[rows]' if sampled else ''}"] if grouped else []),
            "kernels = [",
            *(f"    {kernel!r}," for kernel in problem.kernels),
            "]",
            f"machine = {_constructor(machine)}",
            f"folds = {splitter}({folds}, shuffle=True, random_state={plan.seed})"
            if problem.data.groups is None
            else f"folds = folds_for(y, {task!r}, {plan.folds}, {plan.seed}, groups)",
            f'found = compare(kernels, X, y, estimator=machine, cv=folds, scoring="{problem.metric.text}"'
            + ("" if plan.C is None else f", C={plan.C!r}")
            + ")",
            "for row in found:",
            '    print(f"{row.score:.4f} {row.C} {row.kernel}")',
        ]
    )


def _is_plain(problem: Problem) -> bool:
    """Whether scikit-learn has the score and the folds."""
    data, known = problem.data, ("accuracy", "balanced_accuracy", "r2")
    return data.times is None and data.weights is None and not problem.needs_chances and problem.metric.text in known


def _searching(problem: Problem, path: str, reading: Options) -> str:
    """Code that compares kernels with weights, forward in time, or by other scores."""
    chosen = {
        field.name: getattr(problem.plan, field.name)
        for field in dataclasses.fields(problem.plan)
        if field.name != "search_size" and getattr(problem.plan, field.name) != field.default
    }
    given = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    return "\n".join(
        [
            "from mercer.jobs.problem import Plan, prepare",
            "from mercer.jobs.search import search",
            "from mercer.readers import read",
            "",
            f"data = read({path!r}{_settings(reading)})",
            "kernels = [",
            *(f"    {str(kernel)!r}," for kernel in problem.kernels),
            "]",
            f"problem = prepare(data, Plan({given}), kernels)",
            "for trial in search(problem).by_kernel():",
            '    print(f"{problem.metric.shown(trial.score)} {trial.penalty} {trial.kernel}")',
        ]
    )


def diagnosing(path: str, reading: Options, plan: Plan, kernel: Kernel | None, y: Any) -> str:
    """Code that diagnoses a kernel on a file or, without a kernel, the Gram matrix in the file."""
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
    """Code that diagnoses a model's kernel on a file, or on the objects that it keeps."""
    if path is None or reading is None:
        lines = ["import mercer", "", f"model = mercer.load({model!r})"]
        objects, labels = "model.machine.expansion.support", "model.support_labels()"
    else:
        lines, objects, labels = _loaded(model, path, reading), "model.objects(data)", _targets(y)
    kernel = "kernel = model.machine.expansion.kernel.kernel"
    return "\n".join([*lines, kernel, f"print(mercer.diagnose(kernel, {objects}, {labels}, random_state={seed}))"])


def explaining(kernel: Kernel) -> str:
    """Code that proves that a kernel is one."""
    return "\n".join([*_imports([kernel], reads=False), "", f"kernel = {kernel!r}", "print(kernel.derivation())"])


def predicting(model: str, path: str, reading: Options) -> str:
    """Code that predicts the objects of a file, all at once."""
    return "\n".join([*_loaded(model, path, reading), "print(model.predict(data)[:5])"])


def evaluating(model: str, path: str, reading: Options, task: str) -> str:
    """Code that scores a model on a file: the accuracy, or R^2."""
    metric = "accuracy_score" if task == "classification" else "r2_score"
    scored = f"print({metric}(data.labels, model.predict(data)))"
    return "\n".join([f"from sklearn.metrics import {metric}", "", *_loaded(model, path, reading), scored])


def _loaded(model: str, path: str, reading: Options) -> list[str]:
    return [
        "import mercer",
        "from mercer.readers import read",
        "",
        f"model = mercer.load({model!r})",
        f"data = read({path!r}{_settings(reading)})",
    ]


def _settings(reading: Options) -> str:
    """Settings that differ from the defaults, as arguments."""
    fields = ((field.name, field.default) for field in dataclasses.fields(Options))
    return "".join(
        f", {name}={getattr(reading, name)!r}" for name, default in fields if getattr(reading, name) != default
    )


_SINGLE = "from mercer.jobs.problem import without_single"


def _single(problem: Problem) -> list[str]:
    """What leaves out classes of one object, if there were any."""
    return [_SINGLE] if "single" in problem.data.detail else []


def _prepared(path: str, reading: Options, plan: Plan, problem: Problem | None = None) -> list[str]:
    return [
        f"data = read({path!r}{_settings(reading)})",
        *(["data = without_single(data)"] if problem is not None and _single(problem) else []),
        f"prepare = Preparation.learn(data, scale={plan.scale}, impute={plan.impute})",
    ]


def _targets(y: Any) -> str:
    if y is None:
        return "None"
    return "data.labels.astype(float)" if np.asarray(y).dtype.kind == "f" else "data.labels"


def _imports(kernels: Sequence[Kernel], *more: str, reads: bool = True) -> list[str]:
    """Imports in the order in which tools sort them."""
    names = sorted({type(part).__name__ for kernel in kernels for part in _parts(kernel)})
    lines = [*more, *([f"from mercer.kernels import {', '.join(names)}"] if names else [])]
    return [*lines, "from mercer.readers import read"] if reads else lines


def _constructor(estimator: Any, *first: str) -> str:
    """The call that makes an estimator, with the parameters that differ from their defaults."""
    usual = type(estimator)().get_params(deep=False)
    chosen = [
        f"{name}={value!r}"
        for name, value in estimator.get_params(deep=False).items()
        if name not in ("kernel", "time_limit") and value != usual[name]
    ]
    return f"{type(estimator).__name__}({', '.join([*first, *chosen])})"


def _parts(kernel: Kernel) -> list[Kernel]:
    found = [kernel]
    for child in kernel.children:
        found += _parts(child)
    return found
