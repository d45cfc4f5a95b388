"""Musk or not: molecules as bags of conformations."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from mercer import SVC, kernels

pytestmark = pytest.mark.realdata


@pytest.mark.parametrize("kind", [kernels.MeanEmbedding, kernels.DerivedSubsets])
def test_musk(load, kind):
    bags, labels = load("sets/musk1_bags")["all"]
    everything = np.vstack(bags)
    bags = [(bag - everything.mean(axis=0)) / everything.std(axis=0) for bag in bags]
    kernel = kernels.normalise(kind(kernels.RBF(gamma=0.01)))
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    assert cross_val_score(SVC(kernel=kernel, C=10.0), bags, labels, cv=folds).mean() >= 0.85
