"""A few thousand predictions under replacement; ``python -m tests.fuzz.soak`` makes 100,000 and watches memory."""

import sys

import pytest

if not sys.platform.startswith("linux"):
    pytest.skip("no-run: memory is read from /proc", allow_module_level=True)

from tests.fuzz.soak import growth, soak


def test_predictions_while_models_are_replaced():
    wrong, sizes = soak(1600)
    assert not wrong, wrong[:5]
    assert len(sizes) == 20


def test_growth_is_seen():
    assert growth([100, 110, 100, 130]) == pytest.approx(0.3)
    assert growth([100] * 20) == 0.0
