"""The commands: their options, help and examples. What they do is imported when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mercer.cli import options
from mercer.cli.options import OUTPUT, PLAN, READING, SEED, Data, Group, Model, Subject, flag
from mercer.cli.output import OutputOptions
from mercer.readers.options import Options


def _kernels_and_plan(kernel: list[str], **chosen: Any) -> tuple[list[str], Any]:
    return kernel, PLAN.record(**chosen)


_KERNELS = Annotated[
    list[str], typer.Option("--kernel", "-k", metavar="EXPRESSION", help="A kernel to compare; may be repeated.")
]
_COMPARED = Group("compared", {**PLAN.options, "kernel": (_KERNELS, [])}, _kernels_and_plan)


_FIT_CODE = {"show_code": flag("--show-code", "Also print Python code that trains the same model.")}
_FIT_OUTPUT = Group("output", {**OUTPUT.options, **_FIT_CODE}, OUTPUT.record)


@options.command(OUTPUT.only("json", "quiet", "debug"))
def demo(
    output: OutputOptions,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of the folds and the generated data.")] = 0,
    report: Annotated[str, typer.Option(metavar="FILE", help="Where to write the report.")] = "mercer-demo.html",
    fast: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Train on vectors, strings, graphs and a table of mixed columns.

    Digits, breast cancer and the karate club are real data; the DNA-like strings, the molecule-like graphs and the
    mixed table are generated. Where scikit-learn has the same kernel, it runs for comparison. Finally `mercer fit`
    runs on a table: it compares kernels, trains the best and writes a report. Takes about a minute.

    \b
    Examples:
      mercer demo
      mercer demo --seed 7
      mercer demo --json
    """
    from mercer.cli.demo import show

    show(seed=seed, output=output, fast=fast, report=None if fast else report)


@options.command(PLAN, _FIT_OUTPUT, READING)
def fit(
    data: Data,
    reading: Options,
    plan: Any,
    output: OutputOptions,
    model: Annotated[
        str, typer.Option("--model", "-o", metavar="FILE", help="Where to write the model.")
    ] = "model.mercer",
    report: Annotated[str, typer.Option("--report", metavar="FILE", help="Where to write the report.")] = "report.html",
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if training did not converge.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
) -> None:
    """Learn from a file, and write a model and a report.

    Compares kernels that suit the content of the file by cross-validation, trains the best one on all objects,
    certifies it, and says in words how good it is on new objects. After Ctrl-C, the same command with --resume
    continues where it stopped.

    \b
    Examples:
      mercer fit pets.csv --target pet
      mercer fit sequences.fa --kernel "normalise(spectrum(p=4))"
      mercer fit pets.csv --target mass --task regression --show-code
    """
    from mercer.cli.fitting import Files, run

    run(data, reading, plan, Files(model, None if no_report else report, strict, resume), output)


@options.command(_COMPARED, OUTPUT, READING)
def compare(data: Data, reading: Options, compared: Any, output: OutputOptions) -> None:
    """Rank kernels on a file by cross-validation.

    Tries every kernel with several penalties on the same folds. The intervals, of the score and of the distance from
    the best kernel on the same objects, hold 95 % of resamples. Nothing is written.

    \b
    Examples:
      mercer compare pets.csv --target pet
      mercer compare pets.csv -t pet -k linear -k "rbf(gamma=0.5)"
      mercer compare sequences.fa --json
    """
    from mercer.cli.comparing import run

    kernels, plan = compared
    run(data, reading, plan, kernels, output)


@options.command(OUTPUT, READING)
def predict(
    model: Model,
    data: Data,
    reading: Options,
    output: OutputOptions,
    file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the predictions, instead of stdout."),
    ] = None,
    reasons: Annotated[
        int, typer.Option(min=0, max=20, metavar="NUMBER", help="Name this many support objects as reasons.")
    ] = 0,
    decisions: Annotated[bool, typer.Option("--decisions", help="Add the decision values.")] = False,
) -> None:
    """Predict the objects of a file.

    Prints a CSV table, line by line as it is computed: the object, the prediction, the probability of each class, and
    whether the object is unlike anything that the model was trained on.

    \b
    Examples:
      mercer predict model.mercer new.csv
      mercer predict model.mercer new.csv --reasons 3 --decisions
      mercer predict model.mercer new.csv --json
    """
    from mercer.cli.predicting import Columns, run

    run(model, data, reading, file, Columns(reasons, decisions), output)


@options.command(Group("seed", {"seed": SEED}, lambda seed: seed), OUTPUT, READING)
def evaluate(model: Model, data: Data, reading: Options, seed: int, output: OutputOptions) -> None:
    """Say how good a model is on a file with labels.

    The file should hold objects that the model was not trained on.

    \b
    Examples:
      mercer evaluate model.mercer pets.csv
      mercer evaluate model.mercer pets.csv --json
      mercer evaluate model.mercer pets.csv --target pet --quiet
    """
    from mercer.cli.evaluating import run

    run(model, data, reading, seed, output)


@options.command(OUTPUT.only("json", "quiet", "debug"), READING)
def check(subject: Subject, reading: Options, output: OutputOptions) -> None:
    """Say what a file holds, and what is wrong with it.

    For a Gram matrix, also says whether it is one of a kernel; for a model file, whether it is intact; for a kernel,
    why it is one.

    \b
    Examples:
      mercer check pets.csv --target pet
      mercer check model.mercer
      mercer check "rbf(gamma=0.1) * linear" --json
    """
    from mercer.cli import describing

    describing.check(subject, reading, output)


@options.command(OUTPUT.only("json", "debug"))
def info(model: Model, output: OutputOptions) -> None:
    """Describe a model file.

    \b
    Examples:
      mercer info model.mercer
      mercer info model.mercer --json
      mercer info model.mercer --debug
    """
    from mercer.cli import describing

    describing.info(model, output)


@options.command(PLAN.only("kernel", "task", "seed", "no_scale", "impute"), OUTPUT, READING)
def diagnose(
    subject: Subject,
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="The file to judge a model or a kernel on.")
    ] = None,
    *,
    reading: Options,
    plan: Any,
    output: OutputOptions,
) -> None:
    """Say whether a kernel suits a file, and why.

    Looks at the matrix of similarities: whether objects of one class are alike, whether all similarity is on the
    diagonal, duplicates, outliers, scales, and what training will cost. A model is judged on a file, or on the objects
    that it keeps. For a kernel without a file, says why it is one.

    \b
    Examples:
      mercer diagnose pets.csv --target pet --kernel "rbf(gamma=100)"
      mercer diagnose model.mercer pets.csv
      mercer diagnose "normalise(spectrum(p=3))" sequences.fa --json
    """
    from mercer.cli.diagnosing import run

    run(subject, data, reading, plan, output)


@options.command(OUTPUT.only("json", "debug"))
def convert(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A model file of Mercer or LIBSVM.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where to write the converted model.")],
    output: OutputOptions,
) -> None:
    """Convert a model file from LIBSVM to Mercer, or from Mercer to LIBSVM.

    LIBSVM can hold only classifiers with its own kernels, on plain vectors (npz, npy, svmlight).

    \b
    Examples:
      mercer convert svm.model converted.mercer
      mercer convert converted.mercer back.model
      mercer convert svm.model converted.mercer --json
    """
    from mercer.cli.converting import run

    run(source, target, output)


@options.command(OUTPUT.only("json", "debug"))
def kernels(
    output: OutputOptions,
    name: Annotated[str | None, typer.Argument(help="A kernel, or an expression; without one all are listed.")] = None,
) -> None:
    """List the kernels, describe one of them, or explain an expression.

    The description of a kernel has its formula, its parameters with their defaults, and an example; that of an
    expression shows why it is a kernel.

    \b
    Examples:
      mercer kernels
      mercer kernels rbf
      mercer kernels "rbf(gamma=0.1) + 0.5*linear"
    """
    from mercer.cli.kernels import describe, explain, list_all

    if name is None:
        list_all(output)
    elif set(name) & set("(+*"):
        explain(name, output)
    else:
        describe(name, output)


COMMANDS = (demo, fit, predict, evaluate, compare, diagnose, check, info, convert, kernels)
