"""What a user's kernel class gets wrong is said when it is first used, in words."""

import gc
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mercer import SVC, KernelPCA, KernelSearchCV, LinearSVC, kernels
from mercer._record import STRANGERS
from mercer.errors import KernelError
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Batch, Kernel

X = np.random.default_rng(0).normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)


@dataclass(frozen=True, eq=False)
class Rows(Batch):
    rows: Any


def made(**wrong: Any) -> type[Kernel]:
    """A new class of the linear kernel, with something changed."""

    class Mine(Kernel):
        domain = Vectors

        def features(self, objects: Any, state: Any, dtype: Any) -> Rows:
            return Rows(np.asarray(objects.values, dtype=dtype))

        def tile(self, left: Rows, right: Rows, state: Any, out: Any) -> None:
            out[...] = left.rows @ right.rows.T

        def diagonal(self, features: Rows, state: Any) -> Any:
            return np.square(features.rows).sum(axis=1, dtype=np.float64)

    return dataclass(frozen=True)(type("Mine", (Mine,), wrong))


def rebinds(self: Any, left: Rows, right: Rows, state: Any, out: Any) -> None:
    out = left.rows @ right.rows.T  # noqa: F841


def skips(self: Any, left: Rows, right: Rows, state: Any, out: Any) -> None:
    out[:, :-1] = (left.rows @ right.rows.T)[:, :-1]


def lopsided(self: Any, left: Rows, right: Rows, state: Any, out: Any) -> None:
    out[...] = left.rows @ right.rows.T + 0.01 * left.rows[:, :1] * (right.rows[:, 1:2].T)


def indefinite(self: Any, left: Rows, right: Rows, state: Any, out: Any) -> None:
    out[...] = -np.abs(left.rows[:, :1] - right.rows[:, :1].T)


def lopsided_diagonal(self: Any, features: Rows, state: Any) -> Any:
    return np.square(features.rows).sum(axis=1) + 0.01 * features.rows[:, 0] * features.rows[:, 1]


def ones(self: Any, features: Rows, state: Any) -> Any:
    return np.ones(len(features))


def zeros(self: Any, features: Rows, state: Any) -> Any:
    return np.zeros(len(features))


def cut(self: Any, objects: Any, state: Any, dtype: Any) -> Rows:
    return Rows(objects.values[:3])


WRONG = {
    "rebinds": ({"tile": rebinds}, r"Mine.tile left 144 of 144 entries .* out\[...\] = values"),
    "skips": ({"tile": skips}, "Mine.tile left 12 of 144"),
    "diagonal": ({"diagonal": ones}, r"Mine.diagonal says k\(x, x\) = 1"),
    "shape": ({"diagonal": lambda self, features, state: 1.0}, "one number per object"),
    "lopsided": ({"tile": lopsided, "diagonal": lopsided_diagonal}, "Mine is not symmetric"),
    "indefinite": ({"tile": indefinite, "diagonal": zeros}, "psd = False"),
    "features": ({"features": cut}, "3 features for 12 objects"),
}


@pytest.mark.parametrize("name", WRONG)
def test_mistakes_are_named(name: str) -> None:
    changes, message = WRONG[name]
    kernel = made(**changes)()
    for learner in (SVC(kernel=kernel), SVC(kernel=kernel + kernels.RBF()), KernelPCA(2, kernel=2.0 * kernel)):
        with pytest.raises(KernelError, match=message):
            learner.fit(X, Y)
    with pytest.raises(KernelError, match=message):
        kernel.fit(X)


def test_a_good_class_is_tried_once() -> None:
    calls: list[tuple[int, int]] = []

    def counting(self: Any, left: Rows, right: Rows, state: Any, out: Any) -> None:
        calls.append(out.shape)
        out[...] = left.rows @ right.rows.T

    kind = made(tile=counting)
    assert kind in STRANGERS
    first = kind().fit(X)
    assert calls == [(12, 12)]
    assert kind not in STRANGERS
    np.testing.assert_allclose(first(X), X @ X.T)
    kind().fit(X)
    assert calls == [(12, 12), (40, 40)]
    assert SVC(kernel=kind()).fit(X, Y).score(X, Y) > 0.9


def test_an_honest_indefinite_class_is_left_to_the_guard() -> None:
    honest = {"tile": indefinite, "diagonal": zeros, "psd": False}
    with pytest.raises(KernelError, match="not positive semi-definite"):
        SVC(kernel=made(**honest)(), psd="error").fit(X, Y)


def test_one_object_tells_nothing() -> None:
    kind = made(tile=lopsided)
    kind().fit(X[:1])
    assert kind in STRANGERS


def test_our_own_classes_are_no_strangers() -> None:
    kernels.RBF().fit(X)
    LinearSVC().fit(X, Y)
    assert not [kind for kind in STRANGERS if kind.__module__.startswith("mercer.")]
    gc.collect()  # classes that are gone are forgotten


def test_searches_go_on_beside_a_class_that_was_not_tried_yet() -> None:
    kind = made(tile=lopsided)
    assert kind in STRANGERS
    table = {"a": X[:, 0], "b": X[:, 1]}
    kernel = kernels.on("a", kernels.RBF(0.5)) + kernels.on("b", kernels.Linear())
    found = KernelSearchCV(SVC(kernel=kernel), {"C": [1.0, 10.0]}, cv=3).fit(kernel.coerce(table), Y)
    assert found.best_score_ > 0.5
