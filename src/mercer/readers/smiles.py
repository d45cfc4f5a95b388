"""Columns of SMILES: what cannot be read is told with its line, or left out where that is wanted."""

from __future__ import annotations

import dataclasses
import importlib.util

import numpy as np

from mercer.readers.data import SMILES, Data
from mercer.readers.options import Options
from mercer.readers.problems import count, problem, quoted


def sound(data: Data, options: Options) -> Data:
    """The data without rows whose molecules cannot be read; unless they are to be skipped, one is an error.

    Without RDKit nothing is known about them: the kernels will ask for it.
    """
    columns = [] if data.kind != "table" else [own for own in data.objects.values() if own.kind == SMILES]
    if not columns or data.format == "sdf" or importlib.util.find_spec("rdkit") is None:
        return data
    from rdkit import Chem, rdBase

    bad: dict[int, str] = {}
    with rdBase.BlockLogs():
        for column in columns:
            for row, text in enumerate(column.values):
                if text is None:
                    continue
                molecule = Chem.MolFromSmiles(text)
                if molecule is None or not molecule.GetNumAtoms():
                    bad.setdefault(row, column.name)
    if not bad:
        return data
    first = min(bad)
    if not options.skip_bad:
        raise problem(
            data.name,
            f"{quoted(data.objects[bad[first]].values[first])} is no valid SMILES",
            line=None if data.lines is None else data.lines[first],
            column=bad[first],
            hint=f"{count(len(bad), 'molecule')} of {len(data):,} cannot be read; --skip-bad leaves them out.",
        )
    kept = np.array([row for row in range(len(data)) if row not in bad], dtype=np.intp)
    if not len(kept):
        raise problem(data.name, "none of its molecules can be read")
    left_out = f"{count(len(bad), 'molecule')} that cannot be read left out."
    names = data.ids or (None if data.lines is None else [f"line {line}" for line in data.lines])
    return dataclasses.replace(
        data,
        objects={key: column.take(kept) for key, column in data.objects.items()},
        labels=None if data.labels is None else data.labels[kept],
        ids=None if names is None else [names[row] for row in kept],
        lines=None if data.lines is None else [data.lines[row] for row in kept],
        notes=(*data.notes, left_out),
    )
