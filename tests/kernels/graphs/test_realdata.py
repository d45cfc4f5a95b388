"""Accuracy of the kernels on graphs, trees and molecules on real data."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold

from mercer import SVC, KernelRidge, KernelSearchCV, kernels, nested_cross_validate
from mercer.gram.make import gram_of
from mercer.inputs.molecules import fingerprints, molecular_graphs, parsed_molecules
from tests.kernels.graphs.realdata import as_graphs

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def gram(kernel, items):
    return gram_of(kernel.fit(items), items).dense(np.float64)


def accuracy(kernel, items, classes, grid=(1.0, 10.0, 100.0)):
    """Ten folds, C chosen by three folds inside each; the mean of three such rounds for fewer than 1,000 objects.

    Seed 0 shuffles the outer folds, seed 1 the inner ones.
    """
    split = StratifiedKFold(3, shuffle=True, random_state=1)
    search = KernelSearchCV(SVC(kernel=kernel), {"C": list(grid)}, cv=split)
    outer = RepeatedStratifiedKFold(n_splits=10, n_repeats=3 if len(classes) < 1000 else 1, random_state=0)
    return nested_cross_validate(search, kernel.coerce(items), classes, cv=outer).mean


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("name", "least"), [("MUTAG", 0.84), ("PTC_MR", 0.60), ("ENZYMES", 0.50), ("PROTEINS", 0.73), ("NCI1", 0.84)]
)
def test_weisfeiler_lehman(load, name, least):
    items, classes = as_graphs(load(f"graphs/{name}")["all"])
    found = accuracy(kernels.normalise(kernels.WeisfeilerLehman(5)), items, classes)
    assert found >= least


@pytest.mark.timeout(1800)
def test_questions_as_constituency_trees(load):
    data = load("trees/trec_constituency")
    (train, y), (test, z) = data["train"], data["test"]
    model = SVC(kernel=kernels.normalise(kernels.SubsetTree(0.4)), C=10.0).fit(train, y)
    found = model.score(test, z)
    assert found >= 0.85


def test_kelp_values(real_data):
    """KeLP's partial tree kernel is another one: it decays by gaps, not by spread, and multiplies leaves by 5."""
    trees, _ = real_data.kelp("TREC_10.coarse")
    scores = real_data.kelp_scores()
    kernel = kernels.normalise(kernels.SubsetTree(0.4, leaves="nodes"))
    assert np.allclose(np.diag(kernel.fit(trees)(trees), 1), scores["sstk"], rtol=0, atol=1e-6)


@pytest.mark.timeout(1800)
def test_glycans(load):
    trees, classes = load("trees/glycans")["all"]
    found = accuracy(kernels.normalise(kernels.PartialTree(0.4, 0.4)), trees, classes, grid=(1.0, 10.0))
    assert found >= max(classes.mean(), 1 - classes.mean()) + 0.20


@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("ignore:.*molecules could not be read")
def test_blood_brain_barrier(load):
    smiles, classes = load("molecules/BBBP")["all"]
    molecules, kept = parsed_molecules(smiles, skip_bad=True)
    classes = classes[kept]
    matrix = gram(kernels.MinMax(), fingerprints(molecules, counts=True))
    areas = []
    for train, test in ShuffleSplit(5, test_size=0.2, random_state=0).split(matrix):
        model = SVC(kernel="precomputed", C=10.0).fit(matrix[np.ix_(train, train)], classes[train])
        areas.append(roc_auc_score(classes[test], model.decision_function(matrix[np.ix_(test, train)])))
    assert np.mean(areas) >= 0.90


def test_solubility(load):
    """RBF over the Weisfeiler-Lehman kernel of the molecules."""
    smiles, target = load("molecules/ESOL")["all"]
    graphs = molecular_graphs(smiles)
    over = kernels.RBF(gamma="median", over=kernels.WeisfeilerLehman(3, edge_labels=True))
    errors = []
    for train, test in ShuffleSplit(5, test_size=0.2, random_state=0).split(target):
        model = KernelRidge(kernel=over, alpha=1e-3).fit(graphs.take(train), target[train])
        errors.append(np.sqrt(np.mean((model.predict(graphs.take(test)) - target[test]) ** 2)))
    assert np.mean(errors) <= 0.85
