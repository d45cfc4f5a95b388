"""`mercer check`."""

from __future__ import annotations

import dataclasses

from mercer.cli import output
from mercer.cli.describing import run as describe
from mercer.cli.fitting import NOUNS
from mercer.cli.kernels import explain
from mercer.cli.output import OutputOptions
from mercer.cli.subjects import KERNEL, MODEL, subject_of
from mercer.jobs.summary import summary
from mercer.readers.options import Options
from mercer.readers.problems import count
from mercer.readers.reading import read
from mercer.storage import load
from mercer.theory.mercer import check_mercer


def run(path: str, reading: Options, wanted: OutputOptions) -> None:
    """Read a file as `fit` would, and describe what was found; whatever is wrong is an error, as in other commands."""
    kind = subject_of(path)
    if kind == KERNEL:
        explain(path, wanted)
        return
    if kind == MODEL:
        _check_model(path, wanted)
        return
    data = read(path, dataclasses.replace(reading, require_labels=False))
    found = summary(data)
    proof = None
    if data.kind == "gram" and data.objects.shape[0] == data.objects.shape[1]:
        proof = check_mercer(data.objects)
        found["mercer"] = {"verdict": proof.verdict, "reason": proof.reason, "smallest_eigenvalue": proof.smallest}
    if wanted.as_json:
        output.write_result("check", found)
        return
    print(f"{data.name}: {count(len(data), NOUNS[data.kind])} ({data.format})")
    output.write_notes(data.notes, wanted)
    if data.kind == "table":
        print()
        table = output.new_table("column", "kind", "missing", "content")
        for column in found["columns"]:
            name, content = output.escaped(column["name"]), output.escaped(column["content"])
            table.add_row(name, column["kind"], f"{column['missing']:,}", content)
        output.write_table(table, fold=True)
    if proof is not None:
        print()
        output.write_text(proof.reason)
    if data.labels is not None:
        print()
        output.write_text(f"{data.target or 'label'}: {found['labels']['content']}")


def _check_model(path: str, wanted: OutputOptions) -> None:
    """Loading is the check: it verifies sizes, types, checksums, classes and the relations between arrays."""
    if wanted.as_json:
        describe(path, wanted, command="check")
    elif wanted.quiet:
        load(path)
        print(f"{path}: intact")
    else:
        describe(path, wanted)
        print()
        output.write_text("The file is intact: every array has the type, size and checksum that its header promises.")
