"""Molecules: SMILES and RDKit molecules as labelled graphs and as fingerprints. Needs the extra ``molecules``."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from mercer.errors import InputError, InputTypeError, MercerWarning, missing_extra
from mercer.inputs.base import listed
from mercer.inputs.graph_block import assembled
from mercer.inputs.graph_sources import molecule_draft
from mercer.inputs.graphs import Graphs
from mercer.inputs.vectors import Vectors


def parsed_molecules(
    items: Any, *, standardise: bool = False, skip_bad: bool = False
) -> tuple[list[Any], npt.NDArray[np.intp]]:
    """RDKit molecules from SMILES (or from RDKit molecules), and the rows they came from.

    With `standardise`, salts and solvents are dropped (the largest fragment is kept) and charges neutralised. A SMILES
    that cannot be read is an error that names its row; with `skip_bad` such rows are left out, and a warning says how
    many.
    """
    chem = _rdkit()
    rows = listed(items, "molecules")
    molecules, kept, bad = [], [], []
    with chem.rdBase.BlockLogs():
        for row, item in enumerate(rows):
            problem = ""
            molecule = item
            if isinstance(item, str):
                molecule = chem.Chem.MolFromSmiles(item)
                problem = "is not a valid SMILES" if molecule is None else ""
            elif not isinstance(item, chem.Chem.Mol):
                raise InputTypeError(
                    f"Expected SMILES or RDKit molecules, but item {row} is {item!r} of type {type(item).__name__}."
                )
            if not problem and not molecule.GetNumAtoms():
                problem = "has no atoms"
            if not problem:
                molecules.append(_standard(chem, molecule) if standardise else molecule)
                kept.append(row)
            elif skip_bad:
                bad.append(row)
            else:
                raise InputError(
                    f"Row {row}: {str(item)[:60]!r} {problem}. Correct or drop the row; "
                    "mercer.inputs.molecules.parsed_molecules(items, skip_bad=True) leaves such rows out."
                )
    if bad:
        warnings.warn(
            f"{len(bad)} of {len(rows)} molecules could not be read and were left out, the first in row {bad[0]}.",
            MercerWarning,
            stacklevel=2,
        )
    if not molecules:
        raise InputError("Found 0 molecules while a minimum of 1 is required.")
    return molecules, np.asarray(kept, dtype=np.intp)


def molecular_graphs(items: Any, *, standardise: bool = False) -> Graphs:
    """Graphs whose nodes are the heavy atoms, labelled by atomic number, and whose edges are the bonds.

    Bonds are labelled 1, 2, 3 for single, double, triple and 12 for aromatic, as RDKit numbers them.

    >>> from mercer.inputs.molecules import molecular_graphs
    >>> ethanol = molecular_graphs(["CCO"])
    >>> ethanol.labels.tolist(), ethanol.edge_labels.tolist()
    ([6, 6, 8], [1, 1, 1, 1])
    """
    molecules, _ = parsed_molecules(items, standardise=standardise)
    return Graphs(**assembled([molecule_draft(molecule) for molecule in molecules]))


def fingerprints(
    items: Any, *, radius: int = 2, size: int = 2048, counts: bool = False, standardise: bool = False
) -> Vectors:
    """Morgan fingerprints as sparse rows: which neighbourhoods of atoms occur, or with `counts` how often.

    >>> from mercer.inputs.molecules import fingerprints
    >>> fingerprints(["CCO", "CCCO"], counts=True).values.sum(axis=1)
    array([6., 9.])
    """
    chem = _rdkit()
    molecules, _ = parsed_molecules(items, standardise=standardise)
    generator = chem.rdFingerprintGenerator.GetMorganGenerator(radius=radius, fpSize=size)
    indices: list[int] = []
    values: list[float] = []
    bounds = [0]
    for molecule in molecules:
        found = sorted(generator.GetCountFingerprint(molecule).GetNonzeroElements().items())
        indices.extend(place for place, _ in found)
        values.extend(float(times) if counts else 1.0 for _, times in found)
        bounds.append(len(indices))
    return Vectors.coerce(sp.csr_array((np.asarray(values), indices, bounds), shape=(len(molecules), size)))


def morgan_bits(items: Any) -> Vectors:
    """Fingerprints of radius 2 in 2048 bits."""
    return fingerprints(items)


def morgan_counts(items: Any) -> Vectors:
    """Fingerprints of radius 2 in 2048 counts."""
    return fingerprints(items, counts=True)


def _standard(chem: Any, molecule: Any) -> Any:
    largest = chem.rdMolStandardize.LargestFragmentChooser().choose(molecule)
    return chem.rdMolStandardize.Uncharger().uncharge(largest)


def _rdkit() -> Any:
    """The parts of RDKit that are used here."""
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdFingerprintGenerator
        from rdkit.Chem.MolStandardize import rdMolStandardize
    except ImportError as error:
        raise missing_extra("Reading molecules", "RDKit", "molecules") from error
    return SimpleNamespace(
        Chem=Chem,
        rdBase=rdBase,
        rdFingerprintGenerator=rdFingerprintGenerator,
        rdMolStandardize=rdMolStandardize,
    )
