"""Molecules: files of SMILES, SDF through RDKit, and the check that the SMILES in any table are molecules."""

from __future__ import annotations

import dataclasses
import importlib.util
import io
from typing import Any

import numpy as np

from mercer.errors import missing_extra
from mercer.readers.cells import is_number
from mercer.readers.data import SMILES, Column, Data
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import Source, empty
from mercer.readers.tables import table_of


def read_smiles(source: Source, options: Options) -> Data:
    """A SMILES, then a name or a label, on each line; a header that says smiles is skipped."""
    rows = [(number, line.split(None, 1)) for number, line in source.full_lines]
    if rows[0][1][0].lower() in ("smiles", "canonical_smiles"):
        rows = rows[1:]
    if not rows:
        raise empty(source.name, "the file holds no molecules", "Write one SMILES per line.")
    smiles = np.array([words[0] for _, words in rows], dtype=object)
    after = [words[1].strip() if len(words) > 1 else "" for _, words in rows]
    labelled, named = _after_smiles(after, options)
    return Data(
        source.name,
        "smiles",
        "table",
        {"smiles": Column("smiles", SMILES, smiles)},
        labels=np.array(after) if labelled else None,
        target="label",
        ids=after if named else None,
        lines=[number for number, _ in rows],
        detail={"id": "name" if named else None},
    )


def _after_smiles(words: list[str], options: Options) -> tuple[bool, bool]:
    """Whether the words after the SMILES are labels, which recur or are numbers; and whether they are names."""
    if options.id is not None:  # decided by the first piece of a long file
        return False, options.id != ""
    distinct = len(set(words))
    if not all(words):
        return False, False
    if distinct > 1 and (distinct <= len(words) / 2 or all(map(is_number, words))):
        return True, False
    return False, distinct == len(words)


def read_sdf(source: Source, options: Options) -> Data:
    """Molecules and their properties; the target is one of the properties."""
    molecules = _molecules(source)
    starts = [1, *(number + 1 for number, line in source.numbered if line.startswith("$$$$"))]
    starts += range(starts[-1] + 1, starts[-1] + 1 + len(molecules))  # RDKit may find more molecules than ends
    rows = {line: row for line, row in zip(starts, molecules, strict=False) if row is not None}
    notes = []
    if None in molecules:
        first, bad = molecules.index(None), len(molecules) - len(rows)
        error = problem(source.name, f"molecule {first + 1} cannot be read", line=starts[first])
        notes = [_left_out(error, bad, len(molecules), options)]
    if not rows:
        raise problem(source.name, "the file holds no molecules", hint="Is it an SDF file?")
    return table_of(source.name, "sdf", _columns(list(rows.values())), list(rows), options, notes)


def _columns(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Names, SMILES and properties; names that are not unique are left out."""
    keys = dict.fromkeys(key for row in rows for key in row)
    columns = {key: [row.get(key, "") for row in rows] for key in keys}
    if len(set(columns["name"])) < len(rows):
        del columns["name"]
    return columns


def _molecules(source: Source) -> list[dict[str, str] | None]:
    """The name, the SMILES and the properties of each molecule; None if it cannot be read."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise missing_extra("SDF", "RDKit", "molecules") from error

    def row(molecule: Any) -> dict[str, str] | None:
        if molecule is None or not molecule.GetNumAtoms():
            return None
        name = molecule.GetProp("_Name") if molecule.HasProp("_Name") else ""
        properties = {key: str(value) for key, value in molecule.GetPropsAsDict().items()}
        return {"name": name, "smiles": Chem.MolToSmiles(molecule), **properties}

    with rdBase.BlockLogs():
        return [row(molecule) for molecule in Chem.ForwardSDMolSupplier(io.BytesIO("\n".join(source.lines).encode()))]


def without_bad_molecules(data: Data, options: Options) -> Data:
    """The data without invalid SMILES, if the user allows skipping them; otherwise the first is an error.

    Without RDKit nothing is checked; the kernels will need it.
    """
    if data.format == "sdf" or importlib.util.find_spec("rdkit") is None:
        return data
    bad = _bad_molecules(data)
    if not bad:
        return data
    first = min(bad)
    what = f"{quoted(data.objects[bad[first]].values[first])} is not a valid SMILES"
    error = problem(data.name, what, line=None if data.lines is None else data.lines[first], column=bad[first])
    left_out = _left_out(error, len(bad), len(data), options)
    if len(bad) == len(data):
        raise problem(data.name, "none of its molecules can be read", hint="Is it the right column?")
    if data.ids is None and data.lines is not None:
        data = dataclasses.replace(data, ids=[f"line {line}" for line in data.lines])
    kept = np.array([row for row in range(len(data)) if row not in bad], dtype=np.intp)
    return dataclasses.replace(data.take(kept), notes=(*data.notes, left_out))


def _left_out(error: Exception, bad: int, n: int, options: Options) -> str:
    """The note on molecules left out, or the error about the first, unless the user allows skipping them."""
    if not options.skip_bad:
        error.add_note(f"{count(bad, 'molecule')} of {n:,} cannot be read; --skip-bad leaves them out.")
        raise error
    return f"{count(bad, 'molecule')} that cannot be read left out."


def _bad_molecules(data: Data) -> dict[int, str]:
    """Rows with an invalid SMILES, and the first column that has one."""
    from rdkit import Chem, rdBase

    bad: dict[int, str] = {}
    with rdBase.BlockLogs():
        for key, column in data.objects.items():
            for row, text in enumerate(column.values if column.kind == SMILES else ()):
                molecule = None if text is None else Chem.MolFromSmiles(text)
                if text is not None and (molecule is None or not molecule.GetNumAtoms()):
                    bad.setdefault(row, key)
    return bad
