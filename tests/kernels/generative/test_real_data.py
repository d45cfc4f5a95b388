"""Promoters by the scores of a Markov chain."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from mercer import SVC, kernels

pytestmark = pytest.mark.realdata


def test_promoters(load):
    texts, labels = load("strings/promotergene_kernlab")["all"]
    kernel = kernels.normalise(kernels.MarkovFisher(order=3, alphabet="acgt"))
    found = cross_val_predict(SVC(kernel=kernel, C=10.0), texts, labels, cv=LeaveOneOut())
    assert np.mean(found == labels) >= 0.85
