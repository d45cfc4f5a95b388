"""Accuracy of the kernels on graphs, trees and molecules on real data."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)

from mercer import SVC, kernels
from mercer.gram.matrix import Gram
from mercer.inputs.molecules import fingerprints, molecular_graphs, parsed_molecules
from tests.kernels.graphs.realdata import graphs, loader

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def gram(kernel, items):
    return Gram.of(kernel.fit(items), items).dense(np.float64)


def accuracy(matrix, classes, grid=(1.0, 10.0, 100.0), inner=3, repeats=1):
    """Ten folds, C tuned inside each; for small sets repeated, since one split more or less moves them by points."""
    split = (
        StratifiedKFold(inner, shuffle=True, random_state=1) if inner > 1 else StratifiedShuffleSplit(1, random_state=1)
    )
    search = GridSearchCV(SVC(kernel="precomputed"), {"C": list(grid)}, cv=split)
    outer = RepeatedStratifiedKFold(n_splits=10, n_repeats=repeats, random_state=0)
    return cross_val_score(search, matrix, classes, cv=outer).mean()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("name", "least", "inner", "repeats"),
    [
        ("MUTAG", 0.84, 3, 3),
        ("PTC_MR", 0.60, 3, 3),
        ("ENZYMES", 0.50, 3, 1),
        ("PROTEINS", 0.73, 3, 1),
        ("NCI1", 0.84, 1, 1),
    ],
)
def test_weisfeiler_lehman(shared_data, name, least, inner, repeats):
    items, classes = graphs(shared_data, name)
    found = accuracy(gram(kernels.normalise(kernels.WeisfeilerLehman(5)), items), classes, inner=inner, repeats=repeats)
    assert found >= least


@pytest.mark.timeout(1800)
def test_questions_as_constituency_trees(shared_data):
    data = loader(shared_data).load("trees/trec_constituency")
    (train, y), (test, z) = data["train"], data["test"]
    model = SVC(kernel=kernels.normalise(kernels.SubsetTree(0.4)), C=10.0).fit(train, y)
    found = model.score(test, z)
    assert found >= 0.85


def test_kelp_values(shared_data):
    module = loader(shared_data)
    trees, _ = module.kelp("TREC_10.coarse")
    scores = module.kelp_scores()
    kernel = kernels.normalise(kernels.SubsetTree(0.4, leaves="nodes"))
    assert np.allclose(np.diag(kernel.fit(trees)(trees), 1), scores["sstk"], rtol=0, atol=1e-6)


@pytest.mark.timeout(1800)
def test_glycans(shared_data):
    trees, classes = loader(shared_data).load("trees/glycans")["all"]
    found = accuracy(gram(kernels.normalise(kernels.PartialTree(0.4, 0.4)), trees), classes, grid=(1.0, 10.0), inner=1)
    assert found >= max(classes.mean(), 1 - classes.mean()) + 0.20


@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore:.*molecules could not be read")
def test_blood_brain_barrier(shared_data):
    smiles, classes = loader(shared_data).load("molecules/BBBP")["all"]
    molecules, kept = parsed_molecules(smiles, skip_bad=True)
    classes = classes[kept]
    matrix = gram(kernels.MinMax(), fingerprints(molecules, counts=True))
    areas = []
    for train, test in ShuffleSplit(5, test_size=0.2, random_state=0).split(matrix):
        model = SVC(kernel="precomputed", C=10.0).fit(matrix[np.ix_(train, train)], classes[train])
        areas.append(roc_auc_score(classes[test], model.decision_function(matrix[np.ix_(test, train)])))
    assert np.mean(areas) >= 0.90


def test_solubility(shared_data):
    """Kernel ridge regression, written out: RBF over the Weisfeiler-Lehman kernel of the molecules."""
    smiles, target = loader(shared_data).load("molecules/ESOL")["all"]
    items = molecular_graphs(smiles)
    over = kernels.RBF(gamma="median", over=kernels.WeisfeilerLehman(3, edge_labels=True))
    matrix = gram(over, items)
    errors = []
    for train, test in ShuffleSplit(5, test_size=0.2, random_state=0).split(matrix):
        mean = target[train].mean()
        alpha = np.linalg.solve(matrix[np.ix_(train, train)] + 1e-3 * np.eye(len(train)), target[train] - mean)
        errors.append(np.sqrt(np.mean((matrix[np.ix_(test, train)] @ alpha + mean - target[test]) ** 2)))
    assert np.mean(errors) <= 0.85
