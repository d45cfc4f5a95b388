"""Molecules: files of SMILES, and SDF through RDKit. Both become a table with a column of SMILES."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mercer.errors import MissingExtraError
from mercer.readers.data import SMILES, Column, Data
from mercer.readers.labels import from_sidecar, typed
from mercer.readers.lines import numbered
from mercer.readers.options import Options
from mercer.readers.problems import count, problem
from mercer.readers.source import Source
from mercer.readers.tables import table_of

COLUMN = "smiles"


def read_smiles(source: Source, options: Options) -> Data:
    """A SMILES, then a name or a label, on each line; a head that says smiles is skipped."""
    rows = [(number, line.split(None, 1)) for number, line in numbered(source)]
    if rows[0][1][0].lower() in ("smiles", "canonical_smiles"):
        rows = rows[1:]
    if not rows:
        raise problem(source.name, "the file holds no molecules")
    second = [words[1].strip() if len(words) > 1 else "" for _, words in rows]
    lines = [number for number, _ in rows]
    smiles = _column([words[0] for _, words in rows])
    distinct = len(set(second))
    labelled = all(second) and distinct > 1 and (distinct <= len(second) / 2 or _numbers(second))
    ids = None if labelled or not all(second) or distinct < len(second) else second
    labels = None
    target = "label"
    if options.labels is not None:
        text, target = from_sidecar(options.labels, ids, len(rows), options)
        labels = typed(text, options.labels)
    elif labelled:
        labels = typed(second, source.name, lines)
    elif options.require_target and options.require_labels:
        raise problem(
            source.name,
            "the molecules have no labels",
            hint="Write them after each SMILES, or give them with --labels FILE.",
        )
    return Data(
        source.name, "smiles", "table", {COLUMN: smiles}, labels, target if labels is not None else None, ids, lines
    )


def read_sdf(source: Source, options: Options) -> Data:
    """Molecules and their properties; the target is one of the properties."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise MissingExtraError(
            "SDF needs RDKit, which is not installed. Install it with: pip install 'mercer[molecules]'."
        ) from error
    rows: list[dict[str, str]] = []
    kept: list[int] = []
    bad: list[int] = []
    starts = _starts(source)
    with rdBase.BlockLogs():
        supplier: Any = Chem.ForwardSDMolSupplier(io.BytesIO(source.text.encode()))
        for number, molecule in enumerate(supplier):
            if molecule is None or not molecule.GetNumAtoms():
                bad.append(number)
                continue
            name = molecule.GetProp("_Name") if molecule.HasProp("_Name") else ""
            rows.append(
                {
                    "name": name,
                    COLUMN: Chem.MolToSmiles(molecule),
                    **{key: str(value) for key, value in molecule.GetPropsAsDict().items()},
                }
            )
            kept.append(starts[number] if number < len(starts) else number + 1)
    if bad and not options.skip_bad:
        line = starts[bad[0]] if bad[0] < len(starts) else None
        raise problem(
            source.name,
            f"molecule {bad[0] + 1} cannot be read",
            line=line,
            hint=f"{count(len(bad), 'molecule')} of {len(rows) + len(bad):,} cannot; --skip-bad leaves them out.",
        )
    if not rows:
        raise problem(source.name, "the file holds no molecules")
    names = list(dict.fromkeys(key for row in rows for key in row))
    columns = {key: [row.get(key, "") for row in rows] for key in names}
    if len(set(columns["name"])) < len(rows):
        del columns["name"]
    notes = [f"{count(len(bad), 'molecule')} could not be read and were left out."] if bad else []
    return table_of(source.name, "sdf", columns, kept, options, notes)


def _starts(source: Source) -> list[int]:
    found = [1]
    for number, line in source.numbered:
        if line.startswith("$$$$"):
            found.append(number + 1)
    return found


def _numbers(words: list[str]) -> bool:
    from mercer.readers.labels import is_number

    return all(map(is_number, words))


def _column(values: list[str]) -> Column:
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return Column(COLUMN, SMILES, column)
