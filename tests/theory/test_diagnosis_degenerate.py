"""`diagnose` reports data that cannot be judged instead of failing on them."""

import json
import re

import numpy as np
import pytest

from mercer import diagnose, kernels
from tests.theory.diagnosed import BLOBS, Y

DEGENERATE = [
    (np.array([[1.0]]), [0]),
    (np.array([[1.0]]), None),
    (np.array([[1.0], [2.0]]), [0, 1]),
    (np.zeros((6, 2)), [0, 1, 0, 1, 0, 1]),
    (np.ones((6, 2)), [0, 0, 0, 0, 0, 0]),
    (np.eye(6), list("abcdef")),
    (1e-300 * np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]),
    (1e150 * np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]),
    (1e300 * np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]),
    (np.repeat([[1.0, 2.0]], 30, axis=0), [0, 1] * 15),
    (np.arange(30.0)[:, None], np.arange(30.0)),
    (np.arange(30.0)[:, None], np.full(30, 2.5)),
]


@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.RBF(1.0), kernels.Linear(), kernels.Polynomial()], ids=str)
@pytest.mark.parametrize(("X", "y"), DEGENERATE)
def test_degenerate_data_are_reported(kernel, X, y):
    found = diagnose(kernel, X, y)
    assert found.verdict in ("good", "weak", "diagonal", "constant", "indefinite", "broken")
    assert found.reason
    assert found.next_step
    json.loads(found.to_json())
    assert found.headline in found.headline
    assert str(found)
    assert found._repr_html_()


@pytest.mark.parametrize("matrix", [np.zeros((4, 4)), np.ones((4, 4)), -np.eye(4), np.full((4, 4), 1e300), [[0.0]]])
def test_degenerate_matrices_are_reported(matrix):
    found = diagnose(matrix, y=[0, 1, 0, 1][: len(matrix)])
    json.loads(found.to_json())
    assert found.verdict != "good"


NAN = kernels.FromBlocks(lambda A, B: np.full((len(A), len(B)), np.nan))


@pytest.mark.parametrize(
    ("kernel", "objects", "reason"),
    [
        (kernels.RBF(), [], "There are no objects"),
        (kernels.Linear(), np.zeros((0, 3)), "There are no objects"),
        (kernels.Spectrum(2), [], "There are no objects"),
        (kernels.on("a", kernels.Spectrum(2)), {"a": []}, "There are no objects"),
        (np.zeros((0, 0)), None, "There are no objects"),
        ([], None, "There are no objects"),
        (np.ones((2, 3)), None, "2 rows and 3 columns"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), None, r"Entry \(0, 1\) is nan"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), None, "2 and 0"),
        (NAN, BLOBS, ""),
    ],
)
def test_what_cannot_be_looked_at_is_reported(kernel, objects, reason):
    for y in (None, [] if objects is None or len(objects) == 0 else Y):
        found = diagnose(kernel, objects, y)
        assert found.verdict == "broken"
        assert re.search(reason, found.reason)
        assert found.next_step
        json.loads(found.to_json())
        assert str(found)
        assert found._repr_html_()
