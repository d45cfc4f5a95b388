"""SDF through RDKit: molecules become a table of SMILES and properties."""

from __future__ import annotations

import io
from typing import Any

from mercer.errors import missing_extra
from mercer.readers.data import Data
from mercer.readers.options import Options
from mercer.readers.problems import count, problem
from mercer.readers.source import Source
from mercer.readers.tables import table_of


def read_sdf(source: Source, options: Options) -> Data:
    """Molecules and their properties; the target is one of the properties."""
    molecules = _molecules(source)
    starts = [1, *(number + 1 for number, line in source.numbered if line.startswith("$$$$"))]
    starts += range(starts[-1] + 1, starts[-1] + 1 + len(molecules))  # RDKit may find more molecules than ends
    bad = [place for place, row in enumerate(molecules) if row is None]
    if bad and not options.skip_bad:
        raise problem(
            source.name,
            f"molecule {bad[0] + 1} cannot be read",
            line=starts[bad[0]],
            hint=f"{count(len(bad), 'molecule')} of {len(molecules):,} cannot be read; --skip-bad leaves them out.",
        )
    rows = {line: row for line, row in zip(starts, molecules, strict=False) if row is not None}
    if not rows:
        raise problem(source.name, "the file holds no molecules", hint="Is it an SDF file?")
    notes = [f"{count(len(bad), 'molecule')} that cannot be read left out."] if bad else []
    return table_of(source.name, "sdf", _columns(list(rows.values())), list(rows), options, notes)


def _columns(rows: list[dict[str, str]]) -> dict[str, list[str]]:
    """Names, SMILES and properties; names that do not tell the molecules apart are left out."""
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
