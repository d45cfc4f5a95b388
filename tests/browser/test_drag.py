"""How far the picture is behind the mouse while one of a hundred points is dragged, in a real browser."""

import random

import numpy as np
import pytest

pytest.importorskip("playwright.sync_api", reason="browser tests need playwright")

from tests.browser.test_playground import at, certificate, expect

MEDIAN, TAIL = 60.0, 120.0  # milliseconds from a change to its picture, on an idle machine with two cores


def points():
    rng = random.Random(0)
    found = [(round(rng.gauss(0, 110)), round(rng.gauss(0, 110)), number % 2) for number in range(99)]
    inside = [(min(max(x, -290), 290), min(max(y, -290), 290), kind) for x, y, kind in found]
    return "_".join(f"{x}.{y}.{kind}" for x, y, kind in [*inside, (0, 0, 1)])


@pytest.mark.bench
@pytest.mark.parametrize("kernel", ["rbf(gamma=1)", "poly(degree=3, gamma=1, coef0=1)", "linear"])
def test_pictures_follow_the_mouse(open_page, kernel):
    page = open_page(f"/playground?points={points()}&C=1&kernel={kernel}")
    expect(certificate(page)).to_contain_text("of 100 points", timeout=240_000)
    page.mouse.move(*at(page, 0, 0))
    page.mouse.down()
    page.evaluate("performance.clearMeasures('picture')")
    for step in range(240):
        angle = 2 * np.pi * step / 120
        page.mouse.move(*at(page, 2 * np.sin(angle), 1.5 * np.sin(2 * angle)))
        page.wait_for_timeout(16)
    page.mouse.up()
    page.wait_for_timeout(300)
    took = page.evaluate("performance.getEntriesByName('picture').map((one) => one.duration)")
    median, tail = np.median(took), np.quantile(took, 0.95)
    assert len(took) > 50
    said = f"{len(took)} pictures, median {median:.0f} ms, 95th percentile {tail:.0f} ms"
    assert median <= MEDIAN, said
    assert tail <= TAIL, said
