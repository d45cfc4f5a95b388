"""Model files of machines in cells."""

from dataclasses import replace

import numpy as np
import pytest

from mercer import SVC, Cells, KernelLogisticRegression, KernelRidge, kernels, load, save
from mercer.errors import ModelFileError

RNG = np.random.default_rng(0)
X, NEW = RNG.uniform(size=(1200, 2)), RNG.uniform(size=(300, 2))
SIGNS, CLASSES = np.floor(5 * X).astype(int).sum(axis=1) % 2, np.floor(3 * X[:, 0]).astype(int)
NUMBERS = np.sin(9 * X[:, 0])
NARROW = SVC(C=100.0, gamma=40.0)


@pytest.mark.parametrize(
    ("learner", "objects", "y", "new"),
    [
        (SVC(C=100.0, gamma=40.0), X, CLASSES, NEW),
        (SVC(C=100.0), X, SIGNS, NEW),
        (KernelLogisticRegression(C=100.0, kernel="rbf", gamma=40.0), X, SIGNS, NEW),
        (KernelRidge(0.1, kernel="rbf"), X, NUMBERS, NEW),
        (
            SVC(kernel=kernels.Spectrum(2)),
            ["AC" * (i % 7 + 1) + "GT" * (i % 3) for i in range(90)],
            [0, 1, 1] * 30,
            ["AC"],
        ),
    ],
)
def test_model_files_answer_the_same(learner, objects, y, new, tmp_path):
    model = Cells(learner, size=len(y) // 6, random_state=3).fit(objects, y)
    save(model, tmp_path / "cells")
    twin = load(tmp_path / "cells")
    np.testing.assert_array_equal(twin.predict(new), model.predict(new))
    assert twin.get_params()["size"] == model.size
    assert twin.certificate_.primal == model.certificate_.primal
    save(twin, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "cells").read_bytes()


def test_files_whose_parts_do_not_belong_together_are_refused():
    stored = Cells(NARROW, size=150, probability=True, random_state=0).fit(X, CLASSES)._to_stored()
    spoilt = [
        replace(stored, arrays={**stored.arrays, "edges": stored.arrays["edges"] + 1}),
        replace(stored, arrays={**stored.arrays, "constant": stored.arrays["constant"] + 7}),
        replace(stored, arrays={**stored.arrays, "calibration_slopes": np.array([-1.0])}),
        replace(stored, values={**stored.values, "cells": [5] * len(stored.values["cells"])}),
        replace(stored, values={**stored.values, "estimator": "Nothing"}),
        replace(stored, objects={}),
    ]
    for broken in spoilt:
        with pytest.raises(ModelFileError):
            Cells._from_stored(broken)


@pytest.mark.parametrize("y", [SIGNS, CLASSES], ids=["two classes", "three"])
def test_probabilities_of_files_and_of_earlier_versions(y):
    model = Cells(NARROW, size=300, probability=True, random_state=0).fit(X, y)
    stored = model._to_stored()
    np.testing.assert_allclose(Cells._from_stored(stored).predict_proba(NEW), model.predict_proba(NEW), rtol=1e-12)
    arrays = {name: array for name, array in stored.arrays.items() if not name.startswith("calibration")}
    old = Cells._from_stored(replace(stored, values={**stored.values, "temperature": 1.5}, arrays=arrays))
    chances, values = old.predict_proba(NEW), old.decision_function(NEW)
    machine = np.abs(values).max(axis=1) != 1.0 if values.ndim == 2 else np.abs(values) != 1.0
    odds = np.column_stack([np.zeros(len(NEW)), values]) if values.ndim == 1 else values
    wanted = np.exp(1.5 * (odds - odds.max(axis=1, keepdims=True)))
    np.testing.assert_allclose(chances[machine], (wanted / wanted.sum(axis=1, keepdims=True))[machine], rtol=1e-9)
    with pytest.raises(ModelFileError, match="temperature"):
        Cells._from_stored(replace(stored, values={**stored.values, "temperature": -1.0}, arrays=arrays))
