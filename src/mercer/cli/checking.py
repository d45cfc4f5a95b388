"""`mercer check`."""

from __future__ import annotations

import dataclasses

from mercer._version import __version__
from mercer.cli import output
from mercer.cli.describing import run as describe
from mercer.cli.fitting import NOUNS, _escaped
from mercer.cli.kernels import explain
from mercer.cli.subjects import KERNEL, MODEL, subject_of
from mercer.jobs.summary import summary
from mercer.readers.options import Options
from mercer.readers.problems import count
from mercer.readers.reading import read
from mercer.storage import load
from mercer.theory.mercer import check_mercer


def run(path: str, reading: Options, *, as_json: bool, quiet: bool) -> None:
    """Read a file as `fit` would, and describe what was found; what is wrong is an error like everywhere."""
    kind = subject_of(path)
    if kind == KERNEL:
        explain(path, as_json=as_json)
        return
    if kind == MODEL:
        _model(path, as_json=as_json, quiet=quiet)
        return
    data = read(path, dataclasses.replace(reading, require_labels=False))
    told = summary(data)
    proof = None
    if data.kind == "gram" and data.objects.shape[0] == data.objects.shape[1]:
        proof = check_mercer(data.objects)
        told["mercer"] = {"verdict": proof.verdict, "reason": proof.reason, "smallest_eigenvalue": proof.smallest}
    if as_json:
        output.write_json({"command": "check", "version": __version__, **told})
        return
    print(f"{data.name}: {count(len(data), NOUNS[data.kind])} ({data.format})")
    if not quiet:
        for note in data.notes:
            output.write_text(f"- {note}")
    if data.kind == "table":
        print()
        table = output.new_table()
        for head in ("column", "kind", "missing", "content"):
            table.add_column(head)
        for column in told["columns"]:
            table.add_row(
                _escaped(column["name"]), column["kind"], f"{column['missing']:,}", _escaped(column["content"])
            )
        output.write_table(table, fold=True)
    if proof is not None:
        print()
        output.write_text(proof.reason)
    if data.labels is not None:
        print()
        output.write_text(f"{data.target or 'label'}: {told['labels']['content']}")


def _model(path: str, *, as_json: bool, quiet: bool) -> None:
    """Loading is the check: sizes, types, checksums, classes and the relations between arrays are audited by it."""
    if as_json:
        describe(path, as_json=True, command="check")
        return
    if quiet:
        load(path)
        print(f"{path}: sound")
        return
    describe(path, as_json=False)
    print()
    output.write_text(
        "The file is sound: every array has the type, the size and the checksum that its header promises."
    )
