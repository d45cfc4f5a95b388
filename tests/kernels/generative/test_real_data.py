"""Promoters by the scores of a Markov chain."""

import importlib.util
import warnings

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from mercer import SVC, kernels

pytestmark = pytest.mark.realdata


@pytest.fixture(scope="module")
def load(shared_data):
    spec = importlib.util.spec_from_file_location("load", shared_data / "load.py")
    module = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
        yield module.load


def test_promoters(load):
    texts, labels = load("strings/promotergene_kernlab")["all"]
    kernel = kernels.normalise(kernels.MarkovFisher(order=3, alphabet="acgt"))
    found = cross_val_predict(SVC(kernel=kernel, C=10.0), texts, labels, cv=LeaveOneOut())
    assert np.mean(found == labels) >= 0.85
