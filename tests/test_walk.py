"""How many rooms one fit walks through: the shorter the walk, the sooner a newcomer knows the way."""

import sys
import threading
from pathlib import Path

import numpy as np

import mercer
from mercer import SVC
from mercer._record import STRANGERS

MOST_MODULES = 25
"""The number may only become smaller."""
ROOT = Path(mercer.__file__).parent


def walk_of_a_fit() -> dict[str, None]:
    """Our modules whose functions are entered during a second fit of an RBF machine, in order of their first entry."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 4))  # few objects, so that everything happens in this thread
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    SVC(kernel="rbf").fit(X, y)  # compiles, and imports what is imported late
    STRANGERS.clear()  # classes that other tests have written and not used: they would be tried out
    walk: dict[str, None] = {}

    def note(frame, event, _):
        file = Path(frame.f_code.co_filename)
        if event == "call" and file.is_relative_to(ROOT):
            walk.setdefault(str(file.relative_to(ROOT)))

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        SVC(kernel="rbf").fit(X, y)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return walk


def test_the_walk_is_short(capsys):
    walk = list(walk_of_a_fit())
    with capsys.disabled():
        print("\nOne fit of an SVC walks through", *walk, sep="\n  ")  # noqa: T201
    assert "estimators/svc.py" in walk
    assert len(walk) <= MOST_MODULES
