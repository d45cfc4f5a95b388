"""Verdicts on real data."""

import json

import numpy as np
import pytest

from mercer import diagnose, kernels
from tests.kernels.graphs.realdata import as_graphs


@pytest.mark.realdata
class TestRealData:
    @pytest.mark.parametrize(
        ("name", "kernel", "verdict"),
        [
            ("vectors/fourclass", kernels.RBF(), "good"),
            ("vectors/sonar", kernels.RBF(), "good"),
            ("vectors/diabetes", kernels.RBF(), "weak"),
            ("vectors/fourclass", kernels.RBF(1e4), "diagonal"),
            ("vectors/fourclass", kernels.RBF(1e-9), "constant"),
            ("strings/splice_junction", kernels.WeightedDegree(5), "good"),
            ("strings/splice_junction", kernels.Spectrum(8), "diagonal"),
        ],
    )
    def test_known_verdicts(self, load, name, kernel, verdict):
        X, y = next(iter(load(name).values()))
        X = (
            list(X)
            if name.startswith("strings")
            else np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        )
        assert diagnose(kernel, X, y, sample=300).verdict == verdict

    @pytest.mark.parametrize(
        ("name", "kernel", "verdict"),
        [
            ("MUTAG", kernels.normalise(kernels.WeisfeilerLehman(3)), "good"),
            ("MUTAG", kernels.ShortestPath(), "good"),
            ("MUTAG", kernels.WeisfeilerLehman(0), "good"),
            ("PTC_MR", kernels.normalise(kernels.WeisfeilerLehman(5)), "weak"),
        ],
    )
    def test_graphs(self, load, name, kernel, verdict):
        items, classes = as_graphs(load(f"graphs/{name}")["all"])
        found = diagnose(kernel, items, classes, sample=200)
        assert found.verdict == verdict
        assert found.kind == "graphs"
        assert found.labels.p_value < 0.05 or verdict == "weak"
        json.loads(found.to_json())

    def test_a_column_of_numbers_that_drowns_the_rest(self, load):
        """The first column of breast_cancer is the number of the patient."""
        X, y = load("vectors/breast_cancer")["all"]
        found = diagnose(
            kernels.RBF(), np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float), y, sample=300
        )
        assert found.verdict == "weak"
        assert "Standardise" in found.next_step
