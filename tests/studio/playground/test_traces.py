"""Films of the lectures' algorithms: the last frame is the estimator's machine, and the optimum is below all frames."""

import numpy as np
import pytest

from mercer.studio.playground.packing import unpacked
from mercer.studio.playground.scene import HALF_WIDTH
from mercer.studio.playground.traces import ALGORITHMS, FRAMES, GRID, trace
from mercer.studio.refusal import Refusal
from tests.studio.playground.test_picture import arrays, scene


def plane():
    line = np.linspace(-HALF_WIDTH, HALF_WIDTH, GRID)
    return np.column_stack([part.ravel() for part in np.meshgrid(line, line)])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("printed", [False, True])
def test_the_last_frame_is_the_machine_of_the_code_shown(algorithm, printed):
    told = scene(algorithm=algorithm, printed=printed, C=0.5)
    X, y = arrays(told)
    film = trace(told)
    assert 2 <= len(film["steps"]) <= FRAMES + 1
    assert film["steps"] == sorted(film["steps"])
    last = unpacked(film["grids"])[-1].ravel()
    names = {"X": X, "y": y}
    exec(f"from mercer import *\nmodel = {film['python']}.fit(X, y)", names)
    model = names["model"]
    expected = model.decision_function(plane())
    if film["diverged"]:
        assert np.isfinite(last).all()
    else:
        np.testing.assert_allclose(last, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_no_frame_is_below_the_optimum(algorithm):
    film = trace(scene(algorithm=algorithm, C=2.0))
    values = np.array(film["values"], dtype=float)
    assert (values >= film["optimum"] - 1e-7).all()
    assert values[-1] <= values[0]


def test_the_perceptron_counts_its_mistakes():
    film = trace(scene(algorithm="perceptron", kernel="rbf(gamma=3)"))
    assert film["values"][-1] == 0
    assert "without a mistake" in film["ended"]


def test_the_printed_descent_diverges_and_says_so():
    film = trace(scene(algorithm="gradient", printed=True))
    assert film["diverged"]
    assert "diverged" in film["ended"]


@pytest.mark.parametrize("more", [{"classes": 3}, {"task": "regression"}, {"task": "novelty"}])
def test_two_classes_are_needed(more):
    with pytest.raises(Refusal, match="exactly two"):
        trace(scene(**more))
