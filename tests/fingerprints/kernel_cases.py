"""Every kernel of the registry: its example settings on sample objects, as Gram matrices and in machines."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import mercer
from mercer._registry import KERNELS
from mercer.testing import objects_for
from tests.fingerprints.measure import Fingerprint, of_model, sketch

NEW = 6
"""Sample objects that are compared with those before them, as new ones."""
SAVED_ELSEWHERE = ("FromFunction", "FromBlocks", "RankOne", "PullBack", "Randomised")
"""Kernels that hold code of the user's, which no file can."""


def gram(kernel: Any, objects: Any) -> Fingerprint:
    """Training against training with the diagonal, and new objects against training."""
    size = len(objects) - NEW
    train, new = objects.take(np.arange(size)), objects.take(np.arange(size, len(objects)))
    fitted = kernel.fit(train)
    found = sketch("gram", fitted(train), 4)
    found |= sketch("new", fitted(new, train), 3)
    return found | sketch("diagonal", fitted.diagonal(fitted.features(train)), 2)


def machines(kernel: Any, objects: Any, file: bool) -> Fingerprint:
    """A KernelRidge and an SVC; indefinite kernels are repaired first."""
    size = len(objects) - NEW
    train, new = objects.take(np.arange(size)), objects.take(np.arange(size, len(objects)))
    y = np.cos(np.arange(size))
    ridge = mercer.KernelRidge(alpha=1.0, kernel=kernel, psd="clip").fit(train, y)
    svc = mercer.SVC(kernel=kernel, psd="clip", tol=1e-8).fit(train, y > 0)
    found = {f"ridge {name}": value for name, value in of_model(ridge, new, file=False, coefficients=False).items()}
    return found | {f"svc {name}": value for name, value in of_model(svc, new, file=file, coefficients=False).items()}


def of_kernel(name: str) -> Fingerprint:
    found: Fingerprint = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of strings too short to have features, and of indefinite kernels
        for number, kernel in enumerate(KERNELS[name].load().examples()):
            found[f"{number}"] = repr(kernel) if "<function" not in repr(kernel) else "a function"
            for place, (sample, objects) in enumerate(sorted(objects_for(kernel).items())):
                values = gram(kernel, objects)
                if place == 0:
                    values |= machines(kernel, objects, file=number == 0 and name not in SAVED_ELSEWHERE)
                found |= {_key(number, sample, key): value for key, value in values.items()}
    return found


def _key(number: int, sample: str, key: str) -> str:
    """Marks of keys that are only compared exactly stay in front."""
    bare = key.replace("~", "")
    return f"{'~' if '~' in key else ''}{number} {sample} {bare}"


def precomputed() -> Fingerprint:
    """A Gram matrix that is given; its rows for new objects are made by hand, not taken from a sample."""
    rows = np.random.default_rng(30).normal(size=(23, 5))
    matrix, size = rows @ rows.T, 23 - NEW
    fitted = KERNELS["Precomputed"].load()().fit(matrix[:size, :size])
    new = matrix[size:, :size]
    found = sketch("gram", fitted(matrix[:size, :size])) | sketch("new", fitted(new, matrix[:size, :size]))
    ridge = mercer.KernelRidge(kernel="precomputed").fit(matrix[:size, :size], rows[:size, 0])
    return found | of_model(ridge, new)


def cases() -> Iterator[tuple[str, Callable[[], Fingerprint]]]:
    yield "kernel Precomputed", precomputed
    for name in sorted(KERNELS):
        if name != "Precomputed":
            yield f"kernel {name}", lambda name=name: of_kernel(name)
