"""The commands: their options, help and examples. What they do is imported when they run."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mercer.cli import options
from mercer.cli.options import (
    METRIC,
    OUTPUT,
    PLAN,
    READING,
    SEED,
    THRESHOLD,
    Data,
    Group,
    Model,
    Subject,
    Threshold,
    flag,
)
from mercer.cli.output import OutputOptions
from mercer.readers.options import Options

Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Let a Dask cluster compare kernels: the address of its scheduler, or local:N for N processes.",
    ),
]
_FIT_OUTPUT = OUTPUT.changed(show_code=flag("Also print Python code that trains the same model.", "--show-code"))


@options.command(OUTPUT.only("json", "quiet", "debug"))
def demo(
    output: OutputOptions,
    seed: Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed for random folds and generated data.")] = 0,
    report: Annotated[str, typer.Option(metavar="FILE", help="Where to write the report.")] = "mercer-demo.html",
    fast: Annotated[bool, typer.Option(hidden=True)] = False,
) -> None:
    """Train on vectors, strings, graphs and a table of mixed columns.

    Digits, breast cancer and the karate club are real data; the DNA-like strings, the molecule-like graphs and the
    mixed table are generated. Where scikit-learn has the same kernel, it runs for comparison. At the end, `mercer fit`
    runs on a table: it compares kernels, trains the best one and writes a report. Takes about a minute.

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
    strict: Annotated[bool, typer.Option("--strict", help="Exit with code 4 if training did not converge.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue an interrupted run.")] = False,
    cluster: Cluster = None,
) -> None:
    """Learn from a file, and write a model and a report.

    Compares kernels that suit the file by cross-validation, trains the best one on all objects, certifies how close
    it is to the optimum, and says in words how well it predicts new objects. After Ctrl-C, run the same command with
    --resume to continue where it stopped.

    \b
    Examples:
      mercer fit pets.csv --target pet
      mercer fit sequences.fa --kernel "normalise(spectrum(p=4))"
      mercer fit pets.csv --target mass --task regression --show-code
    """
    from mercer.cli.clusters import on_cluster
    from mercer.cli.fitting import Files, run

    with on_cluster(cluster, output):
        run(data, reading, plan, Files(model, None if no_report else report, strict, resume), output)


@options.command(PLAN.without("kernel"), OUTPUT, READING)
def compare(
    data: Data,
    reading: Options,
    plan: Any,
    output: OutputOptions,
    kernel: Annotated[
        list[str] | None,
        typer.Option("--kernel", "-k", metavar="EXPRESSION", help="A kernel to compare; may be repeated."),
    ] = None,
    cluster: Cluster = None,
) -> None:
    """Rank kernels on a file by cross-validation.

    Tries every kernel with several penalties, all on the same folds. Shows a 95% interval for each score, and for how
    far each kernel is behind the best one; both come from resampling the objects. Writes no files.

    \b
    Examples:
      mercer compare pets.csv --target pet
      mercer compare pets.csv -t pet -k linear -k "rbf(gamma=0.5)"
      mercer compare sequences.fa --json
    """
    from mercer.cli.clusters import on_cluster
    from mercer.cli.comparing import run

    with on_cluster(cluster, output):
        run(data, reading, plan, kernel or [], output)


@options.command(OUTPUT, READING)
def predict(
    model: Model,
    data: Data,
    reading: Options,
    output: OutputOptions,
    file: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write the predictions to this file, not to stdout."),
    ] = None,
    reasons: Annotated[
        int,
        typer.Option(
            min=0,
            max=20,
            metavar="NUMBER",
            help="For each object, name this many support objects, and columns of a table, that contributed most.",
        ),
    ] = 0,
    decisions: Annotated[bool, typer.Option("--decisions", help="Add the decision values.")] = False,
    top: Annotated[
        int, typer.Option(min=0, metavar="NUMBER", help="Name this many of the most probable classes of each object.")
    ] = 0,
    threshold: Threshold = None,
    interval: Annotated[
        int | None,
        typer.Option(
            metavar="PERCENT",
            help="Add an interval that contains this percentage of true numbers: 50, 80, 90, 95 or 99.",
        ),
    ] = None,
) -> None:
    """Predict the labels of the objects in a file.

    Prints a CSV table, line by line as it is computed: the object, the prediction, the probability of each class, and
    whether the object is unlike anything that the model was trained on.

    \b
    Examples:
      mercer predict model.mercer new.csv
      mercer predict model.mercer new.csv --reasons 3 --decisions
      mercer predict model.mercer new.csv --json
    """
    from mercer.cli.predicting import run
    from mercer.jobs.answers import Columns

    run(model, data, reading, file, Columns(reasons, decisions, top, threshold, interval), output)


@options.command(OUTPUT.only("debug"))
def serve(
    model: Model,
    output: OutputOptions,
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, metavar="NUMBER", help="Which port to listen on.")] = 8080,
    most_rows: Annotated[int, typer.Option(min=1, metavar="NUMBER", help="The most objects in one request.")] = 10_000,
) -> None:
    """Serve the predictions of a model over HTTP.

    POST /predict takes JSON ({"rows": [{...}]}) or CSV (text/csv) and answers with predictions and probabilities.
    GET /schema says what to send, and GET /health that the model is ready. Ctrl-C ends it.

    \b
    Examples:
      mercer serve model.mercer
      mercer serve model.mercer --port 9000
      curl -d '[{"mass": 4, "colour": "red"}]' localhost:8080/predict -H 'Content-Type: application/json'
    """
    del output
    from mercer.cli.serving import run

    run(model, host, port, most_rows)


@options.command(Group("judging", {"seed": SEED, "metric": METRIC, "threshold": THRESHOLD}, dict), OUTPUT, READING)
def evaluate(model: Model, data: Data, reading: Options, judging: Any, output: OutputOptions) -> None:
    """Score a model on a file with labels.

    The file should hold objects that the model was not trained on. Without --metric, the score is the one that the
    model was chosen by.

    \b
    Examples:
      mercer evaluate model.mercer pets.csv
      mercer evaluate model.mercer pets.csv --json
      mercer evaluate model.mercer pets.csv --metric auc --threshold cat=5:1
    """
    from mercer.cli.evaluating import Judging, run

    run(model, data, reading, Judging(**judging), output)


@options.command(OUTPUT.only("json", "quiet", "debug"), READING)
def check(subject: Subject, reading: Options, output: OutputOptions) -> None:
    """Describe what a file holds, and report what is wrong with it.

    Also checks whether a Gram matrix is positive semi-definite and whether a model file is intact. For a kernel, shows
    why it is positive semi-definite.

    \b
    Examples:
      mercer check pets.csv --target pet
      mercer check model.mercer
      mercer check "rbf(gamma=0.1) * linear" --json
    """
    from mercer.cli import describing

    describing.check(subject, reading, output)


@options.command(OUTPUT.only("json", "debug"))
def info(
    model: Model,
    output: OutputOptions,
    card: Annotated[bool, typer.Option("--card", help="Print a model card, in Markdown.")] = False,
) -> None:
    """Describe a model file.

    A model card says what a model is for, what data it was trained on, how good it is and where not to trust it.

    \b
    Examples:
      mercer info model.mercer
      mercer info model.mercer --json
      mercer info model.mercer --card
    """
    from mercer.cli import describing

    describing.info(model, output, card=card)


@options.command(PLAN.only("kernel", "task", "seed", "no_scale", "impute"), OUTPUT, READING)
def diagnose(
    subject: Subject,
    data: Annotated[str | None, typer.Argument(metavar="DATA", help="The file to try a model or a kernel on.")] = None,
    *,
    reading: Options,
    plan: Any,
    output: OutputOptions,
) -> None:
    """Say whether a kernel suits a file, and why.

    Looks at the Gram matrix: whether objects of the same class are similar, whether each object resembles only itself,
    duplicates, outliers, scales, and what training will cost. A model is diagnosed on a file, or on its own support
    objects. For a kernel without a file, shows why it is positive semi-definite.

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
    """Convert model files between Mercer and LIBSVM.

    LIBSVM's files hold only classifiers with LIBSVM's own kernels, on plain vectors (npz, npy, svmlight).

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
    name: Annotated[
        str | None,
        typer.Argument(metavar="KERNEL", help="A kernel or an expression. Without it, all kernels are listed."),
    ] = None,
) -> None:
    """List the kernels, or describe one of them.

    Shows the formula of a kernel, its parameters with their defaults, and an example. For an expression, shows why it
    is positive semi-definite.

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


@options.command(OUTPUT.only("debug"))
def studio(
    output: OutputOptions,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="A file to open in the workbench.")] = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, metavar="NUMBER", help="The port. The default is 8275, if it is free."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    home: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="Where projects are kept, instead of ~/.local/share/mercer/studio."),
    ] = None,
) -> None:
    """Open Mercer Studio, a local web application, in the browser.

    A playground for points on a plane: see margins, support vectors, Gram matrices and feature spaces change as points
    are dragged. A workbench for files: drop one, compare kernels, look at errors, predict, and take the model away.
    Everything is computed on this machine, and no other machine has access. On a server, use
    --no-browser, and forward the port with `ssh -L 8275:localhost:8275 SERVER`. Ctrl-C ends it.

    \b
    Examples:
      mercer studio
      mercer studio pets.csv
      mercer studio --no-browser --port 9000
    """
    from mercer.cli.studio import run

    del output
    run(file, port, home, browser=not no_browser)


COMMANDS = (demo, fit, predict, evaluate, serve, compare, diagnose, check, info, convert, kernels, studio)
