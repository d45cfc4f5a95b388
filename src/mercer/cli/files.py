"""The commands that read files: thin, and light until one of them runs."""

from __future__ import annotations

from typing import Annotated

import typer

from mercer.cli.reading import reads
from mercer.readers.options import Options

Data = Annotated[str, typer.Argument(metavar="DATA", help="A file, a folder, or - for stdin.")]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file that `mercer fit` wrote.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Seed = Annotated[int, typer.Option(min=0, metavar="NUMBER", help="Seed of the folds and samples.")]
Folds = Annotated[int, typer.Option(min=2, max=100, metavar="NUMBER", help="Parts of the cross-validation.")]
TimeLimit = Annotated[
    float | None, typer.Option(min=0.1, metavar="SECONDS", help="Stop searching then, with the best so far.")
]
SearchSize = Annotated[
    int | None,
    typer.Option(
        min=10,
        metavar="NUMBER",
        help="Compare kernels on at most so many objects; otherwise from 2,000 to 20,000, by what they cost.",
    ),
]
Task = Annotated[str, typer.Option(metavar="NAME", help="auto, classification or regression.")]
NoScale = Annotated[bool, typer.Option("--no-scale", help="Leave numbers as they are.")]
Impute = Annotated[bool, typer.Option("--impute", help="Fill missing values instead of refusing them.")]
Balanced = Annotated[bool, typer.Option("--balanced", help="Count every class the same, however rare.")]
Code = Annotated[bool, typer.Option("--show-code", help="Print the Python code that does the same, and do nothing.")]
Penalty = Annotated[
    float | None,
    typer.Option("--C", min=1e-12, metavar="NUMBER", help="The penalty (alpha of a regression), instead of a search."),
]


@reads
def fit(
    data: Data,
    reading: Options,
    model: Annotated[str, typer.Option("--model", "-o", metavar="FILE", help="Where the model goes.")] = "model.mercer",
    report: Annotated[str, typer.Option("--report", metavar="FILE", help="Where the report goes.")] = "report.html",
    no_report: Annotated[bool, typer.Option("--no-report", help="Write no report.")] = False,
    kernel: Annotated[
        str, typer.Option("--kernel", "-k", metavar="EXPRESSION", help="A kernel, instead of a search.")
    ] = "auto",
    task: Task = "auto",
    C: Penalty = None,
    folds: Folds = 5,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    search_size: SearchSize = None,
    no_scale: NoScale = False,
    impute: Impute = False,
    balanced: Balanced = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 4 if training did not converge.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on where an interrupted run stopped.")] = False,
    show_code: Annotated[bool, typer.Option("--show-code", help="Print the Python code that does the same.")] = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Learn from a file: a model and a report come out.

    The file is read, kernels that suit its content are compared by cross-validation, the best is trained on everything
    and certified, and how good it is on new objects is said in words. After Ctrl-C, the same command with --resume goes
    on with what was finished.

    \b
    Examples:
      mercer fit pets.csv --target pet
      mercer fit sequences.fa --kernel "normalise(spectrum(p=4))"
      mercer fit pets.csv --target mass --task regression --show-code
    """
    del debug
    from mercer.cli.fitting import Wishes, run
    from mercer.jobs.posing import Plan

    plan = Plan(kernel, task, C, folds, seed, not no_scale, impute, balanced, time_limit, search_size)
    run(data, reading, plan, Wishes(model, None if no_report else report, strict, show_code, json, quiet, resume))


@reads
def compare(
    data: Data,
    reading: Options,
    kernel: Annotated[
        list[str] | None,
        typer.Option("--kernel", "-k", metavar="EXPRESSION", help="A kernel to compare; may be repeated."),
    ] = None,
    task: Task = "auto",
    C: Penalty = None,
    folds: Folds = 5,
    seed: Seed = 0,
    time_limit: TimeLimit = None,
    search_size: SearchSize = None,
    no_scale: NoScale = False,
    impute: Impute = False,
    balanced: Balanced = False,
    show_code: Code = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Rank kernels on a file, by cross-validation.

    Every kernel is tried with several penalties on the same folds. Intervals, of the score and of how far it is behind
    the best on the same objects, hold 95 % of resamples. Nothing is written.

    \b
    Examples:
      mercer compare pets.csv --target pet
      mercer compare pets.csv -t pet -k linear -k "rbf(gamma=0.5)"
      mercer compare sequences.fa --json
    """
    del debug
    from mercer.cli.comparing import run
    from mercer.jobs.posing import Plan

    plan = Plan("auto", task, C, folds, seed, not no_scale, impute, balanced, time_limit, search_size)
    run(data, reading, plan, kernel or [], as_json=json, quiet=quiet, show_code=show_code)


@reads
def predict(
    model: Model,
    data: Data,
    reading: Options,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Where the predictions go, instead of stdout.")
    ] = None,
    reasons: Annotated[
        int, typer.Option(min=0, max=20, metavar="NUMBER", help="Name so many support objects as reasons.")
    ] = 0,
    decisions: Annotated[bool, typer.Option("--decisions", help="Add the decision values.")] = False,
    show_code: Code = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Predict the objects of a file.

    Prints a CSV table, line by line as it is computed: the object, what is predicted, the probability of each class,
    and whether the object is unlike anything that the model was trained on.

    \b
    Examples:
      mercer predict model.mercer new.csv
      mercer predict model.mercer new.csv --reasons 3 --decisions
      mercer predict model.mercer new.csv --json
    """
    del debug
    from mercer.cli.predicting import run

    run(
        model,
        data,
        reading,
        output=output,
        reasons=reasons,
        decisions=decisions,
        as_json=json,
        quiet=quiet,
        show_code=show_code,
    )


@reads
def evaluate(
    model: Model,
    data: Data,
    reading: Options,
    seed: Seed = 0,
    show_code: Code = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say how good a model is on a file with labels.

    The file should hold objects that the model was not trained on.

    \b
    Examples:
      mercer evaluate model.mercer pets.csv
      mercer evaluate model.mercer pets.csv --json
      mercer evaluate model.mercer pets.csv --target pet --quiet
    """
    del debug
    from mercer.cli.evaluating import run

    run(model, data, reading, seed=seed, as_json=json, quiet=quiet, show_code=show_code)


@reads
def check(
    subject: Annotated[
        str, typer.Argument(metavar="WHAT", help="A file of data or of a Gram matrix, a model, a kernel.")
    ],
    reading: Options,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say what is in a file, and what is wrong with it.

    Of a Gram matrix it is also said whether it can be one; of a model file, whether it is sound; of a kernel, why it
    is one.

    \b
    Examples:
      mercer check pets.csv --target pet
      mercer check model.mercer
      mercer check "rbf(gamma=0.1) * linear" --json
    """
    del debug
    from mercer.cli.checking import run

    run(subject, reading, as_json=json, quiet=quiet)


def info(model: Model, json: Json = False, debug: Debug = False) -> None:
    """Describe a model file.

    \b
    Examples:
      mercer info model.mercer
      mercer info model.mercer --json
      mercer info model.mercer --debug
    """
    del debug
    from mercer.cli.describing import run

    run(model, as_json=json)


@reads
def diagnose(
    subject: Annotated[
        str, typer.Argument(metavar="WHAT", help="A file of data or of a Gram matrix, a model, a kernel.")
    ],
    data: Annotated[
        str | None, typer.Argument(metavar="[DATA]", help="The file to judge a model or a kernel on.")
    ] = None,
    *,
    reading: Options,
    kernel: Annotated[str, typer.Option("--kernel", "-k", metavar="EXPRESSION", help="The kernel to judge.")] = "auto",
    task: Task = "auto",
    seed: Seed = 0,
    no_scale: NoScale = False,
    impute: Impute = False,
    show_code: Code = False,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say whether a kernel is any good for a file, and why.

    Looks at the matrix of similarities: whether objects of one class resemble each other, whether all similarity is on
    the diagonal, duplicates, outliers, scales, and what training will cost. A model is judged on a file, or on the
    objects that it keeps; of a kernel alone it is said why it is one.

    \b
    Examples:
      mercer diagnose pets.csv --target pet --kernel "rbf(gamma=100)"
      mercer diagnose model.mercer pets.csv
      mercer diagnose "normalise(spectrum(p=3))" sequences.fa --json
    """
    del debug
    from mercer.cli.diagnosing import run
    from mercer.jobs.posing import Plan

    plan = Plan(kernel=kernel, task=task, seed=seed, scale=not no_scale, impute=impute)
    run(subject, data, reading, plan, as_json=json, quiet=quiet, show_code=show_code)


def convert(
    source: Annotated[str, typer.Argument(metavar="FROM", help="A model file of Mercer's or LIBSVM's.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="Where the other form goes.")],
    json: Json = False,
    debug: Debug = False,
) -> None:
    """Turn a model file of LIBSVM's into one of ours, or the other way round.

    Only classifiers with kernels that LIBSVM has, on plain vectors (npz, npy, svmlight), can go there.

    \b
    Examples:
      mercer convert svm.model converted.mercer
      mercer convert converted.mercer back.model
      mercer convert svm.model converted.mercer --json
    """
    del debug
    from mercer.cli.converting import run

    run(source, target, as_json=json)
