"""Alignments against the plain formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import alignment, centred_alignment, kernel_target_alignment
from mercer.errors import InputError

GOOD = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]], dtype=float)
LABELS = [1, 1, 2, 2, 2]


def plain(K, L):
    return np.trace(K @ L) / np.sqrt(np.trace(K @ K) * np.trace(L @ L))


@settings(max_examples=30)
@given(st.integers(0, 10_000), st.integers(2, 9))
def test_against_traces(seed, n):
    rng = np.random.default_rng(seed)
    A, B = rng.normal(size=(n, 3)), rng.normal(size=(n, 4))
    K, L = A @ A.T, B @ B.T
    H = np.eye(n) - 1 / n
    assert alignment(K, L) == pytest.approx(plain(K, L))
    assert centred_alignment(K, L) == pytest.approx(plain(H @ K @ H, H @ L @ H))
    assert centred_alignment(K + 7.0, 1e150 * L) == pytest.approx(centred_alignment(K, L), abs=1e-9)


def test_with_labels():
    y = np.array([1.0, 1, -1, -1, -1])
    assert kernel_target_alignment(GOOD, y, centre=False) == pytest.approx(plain(GOOD, np.outer(y, y)))
    assert kernel_target_alignment(GOOD, list("aabbb")) == pytest.approx(kernel_target_alignment(GOOD, y))
    assert kernel_target_alignment(np.outer(y, y), y) == pytest.approx(1.0)
    three = np.array([0, 0, 1, 1, 2])
    ideal = np.where(three[:, None] == three, 1.0, -0.5)
    assert kernel_target_alignment(GOOD, three, centre=False) == pytest.approx(plain(GOOD, ideal))
    numbers = np.array([0.5, 1.5, 2.0, 0.1, 0.0])
    assert kernel_target_alignment(np.outer(numbers, numbers), numbers) == pytest.approx(1.0)
    assert kernel_target_alignment(GOOD, LABELS) > 1.5 * kernel_target_alignment(np.eye(5), LABELS)


def test_nothing_to_align():
    assert alignment(np.zeros((3, 3)), np.eye(3)) == 0.0
    assert centred_alignment(np.ones((3, 3)), np.eye(3)) == 0.0
    assert kernel_target_alignment(GOOD, [1, 1, 1, 1, 1]) == 0.0
    nearly = np.ones((3, 3))
    nearly[0, 0] = np.nextafter(1.0, 2.0)  # rounding is all that centring leaves of it
    plain_line = np.outer([1.0, 0, -1], [1.0, 0, -1])
    assert centred_alignment(nearly, plain_line) == centred_alignment(plain_line, nearly) == 0.0


def test_refusals():
    with pytest.raises(InputError, match="square"):
        alignment(np.ones((2, 3)), np.eye(2))
    with pytest.raises(InputError, match="2 and 3"):
        alignment(np.eye(2), np.eye(3))
    with pytest.raises(InputError, match=r"Entry \(0, 1\)"):
        alignment([[1.0, np.nan], [0.0, 1.0]], np.eye(2))
    with pytest.raises(InputError, match="finite; number 1"):
        kernel_target_alignment(np.eye(2), [1.0, np.nan])
