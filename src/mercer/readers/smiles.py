"""Files of SMILES, and the check that the SMILES in any table are molecules."""

from __future__ import annotations

import dataclasses
import importlib.util

import numpy as np

from mercer.readers.cells import is_number
from mercer.readers.data import SMILES, Column, Data
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted
from mercer.readers.source import Source, empty


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


def without_bad_molecules(data: Data, options: Options) -> Data:
    """The data without invalid SMILES, where the user lets Mercer skip them; otherwise one is an error.

    Without RDKit nothing is checked: the kernels will ask for it.
    """
    if data.format == "sdf" or importlib.util.find_spec("rdkit") is None:
        return data
    bad = _bad_molecules(data)
    if not bad:
        return data
    first = min(bad)
    if not options.skip_bad:
        raise problem(
            data.name,
            f"{quoted(data.objects[bad[first]].values[first])} is not a valid SMILES",
            line=None if data.lines is None else data.lines[first],
            column=bad[first],
            hint=f"{count(len(bad), 'molecule')} of {len(data):,} cannot be read; --skip-bad leaves them out.",
        )
    if len(bad) == len(data):
        raise problem(data.name, "none of its molecules can be read", hint="Is it the right column?")
    if data.ids is None and data.lines is not None:
        data = dataclasses.replace(data, ids=[f"line {line}" for line in data.lines])
    kept = np.array([row for row in range(len(data)) if row not in bad], dtype=np.intp)
    left_out = f"{count(len(bad), 'molecule')} that cannot be read left out."
    return dataclasses.replace(data.take(kept), notes=(*data.notes, left_out))


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
