"""`mercer check`."""

from __future__ import annotations

import dataclasses

from mercer._version import __version__
from mercer.cli import output
from mercer.cli.fitting import _escaped
from mercer.jobs.summary import summary
from mercer.readers.options import Options
from mercer.readers.reading import read


def run(path: str, reading: Options, *, as_json: bool, quiet: bool) -> None:
    """Read a file as `fit` would, and describe what was found; what is wrong is an error like everywhere."""
    labelled = reading.target is not None or reading.labels is not None
    data = read(path, dataclasses.replace(reading, require_target=labelled))
    told = summary(data)
    if as_json:
        output.write_json({"command": "check", "version": __version__, **told})
        return
    print(f"{data.name}: {len(data):,} {data.kind if data.kind != 'table' else 'rows'} ({data.format})")
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
    if data.labels is not None:
        print()
        output.write_text(f"{data.target or 'label'}: {told['labels']['content']}")
