"""Molecules: SMILES as graphs and fingerprints, columns of tables, and answers to bad input."""

import sys

import numpy as np
import pytest

from mercer import SVC, kernels
from mercer.errors import InputError, InputTypeError, MercerWarning, MissingExtraError
from mercer.inputs.molecules import fingerprints, molecular_graphs, parsed_molecules

pytest.importorskip("rdkit", reason="needs the extra molecules")
ETHANOL, ETHER, ACID, SALT = "CCO", "COC", "CC(=O)O", "CC(=O)[O-].[Na+]"


def test_graphs():
    graphs = molecular_graphs([ACID, "C"])
    assert graphs.sizes.tolist() == [4, 1]
    assert graphs.labels.tolist() == [6, 6, 8, 8, 6]
    assert graphs.edge_labels.tolist() == [1, 1, 2, 1, 2, 1]
    from rdkit import Chem

    same = molecular_graphs([Chem.MolFromSmiles("OC(C)=O")])
    gram = kernels.WeisfeilerLehman(3, edge_labels=True).fit(graphs)(same, graphs)
    assert gram[0, 0] == kernels.WeisfeilerLehman(3, edge_labels=True).fit(graphs)(graphs)[0, 0]


def test_standardisation():
    assert molecular_graphs([SALT]).sizes.tolist() == [5]
    cleaned = molecular_graphs([SALT, ACID], standardise=True)
    assert cleaned.sizes.tolist() == [4, 4]
    bits = fingerprints([SALT, ACID], standardise=True).values.toarray()
    assert np.array_equal(bits[0], bits[1])


def test_fingerprints():
    bits, counts = fingerprints([ETHANOL, "CCCCCCO"]), fingerprints([ETHANOL, "CCCCCCO"], counts=True)
    assert bits.values.shape == (2, 2048)
    assert bits.values.max() == 1.0
    assert counts.values.max() > 1.0
    assert np.array_equal(bits.values.toarray() > 0, counts.values.toarray() > 0)


def test_columns_of_a_table():
    table = {"smiles": [ETHANOL, ETHER, ACID, "CCCO"], "mass": [46.0, 46.0, 60.0, 60.0]}
    kernel = kernels.on("smiles", kernels.WeisfeilerLehman(2), as_="smiles") + kernels.on(
        "mass", kernels.RBF(gamma=0.01)
    )
    gram = kernel.fit(table)(table)
    graphs = kernels.WeisfeilerLehman(2).fit(molecular_graphs(table["smiles"]))(molecular_graphs(table["smiles"]))
    masses = np.exp(-0.01 * np.subtract.outer(table["mass"], table["mass"]) ** 2)
    assert np.allclose(gram, graphs + masses)
    assert kernels.parse(str(kernel)) == kernel
    bits = kernels.on("smiles", kernels.Linear(), as_="morgan").fit(table)(table)
    assert np.allclose(np.diag(bits), fingerprints(table["smiles"]).values.sum(axis=1))


def test_a_model_of_a_table_is_stored(tmp_path):
    import mercer

    table = {"smiles": [ETHANOL, ETHER, ACID, "CCCO"], "mass": [46.0, 46.0, 60.0, 60.0]}
    kernel = kernels.on("smiles", kernels.WeisfeilerLehman(2), as_="smiles") * kernels.on(
        "mass", kernels.RBF(gamma=0.01)
    )
    model = SVC(kernel=kernel).fit(table, [1, 0, 1, 0])
    mercer.save(model, tmp_path / "model.mercer")
    again = mercer.load(tmp_path / "model.mercer")
    assert np.array_equal(again.decision_function(table), model.decision_function(table))


@pytest.mark.parametrize(
    ("raw", "error", "message"),
    [
        ([ETHANOL, "C1CC"], InputError, "Row 1: 'C1CC' is not a valid SMILES"),
        ([ETHANOL, ""], InputError, "Row 1: '' has no atoms"),
        ([ETHANOL, 5], InputTypeError, "item 1 is 5 of type int"),
        (ETHANOL, InputTypeError, "got one str"),
        ([], InputError, "Found 0 molecules"),
    ],
)
def test_bad_molecules(raw, error, message):
    with pytest.raises(error, match=message):
        molecular_graphs(raw)


def test_bad_rows_can_be_left_out():
    with pytest.warns(MercerWarning, match="2 of 4 molecules could not be read and were left out, the first in row 1"):
        molecules, kept = parsed_molecules([ETHANOL, "C1CC", ETHER, ""], skip_bad=True)
    assert kept.tolist() == [0, 2]
    assert molecular_graphs(molecules).sizes.tolist() == [3, 3]


def test_bad_columns():
    with pytest.raises(InputError, match="Column 's': Row 0: 'x1' is not a valid SMILES"):
        kernels.on("s", kernels.WeisfeilerLehman(1), as_="smiles").fit({"s": ["x1"]})
    with pytest.raises(ValueError, match="The 'as_' parameter of on must be one of 'smiles'"):
        kernels.on("s", kernels.WeisfeilerLehman(1), as_="smile")
    with pytest.raises(ValueError, match="one column, to be read as 'morgan'"):
        kernels.on(["s", "t"], kernels.Linear(), as_="morgan")


def test_without_rdkit(monkeypatch):
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(MissingExtraError, match=r"mercer\[molecules\]"):
        molecular_graphs([ETHANOL])
