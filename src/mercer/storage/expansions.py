"""Checks that the parts of an expansion from a file are consistent."""

from __future__ import annotations

import contextlib
import warnings

import numpy as np

from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.kernels.base import State

_LATER = {"landmark_places"}
"""Arrays that files of earlier versions lack, and that prediction does not need."""


def check_expansion(expansion: Expansion) -> None:
    """Refuse an expansion whose parts are inconsistent."""
    kernel, support = expansion.kernel.kernel, expansion.support
    coefficients, intercept = expansion.coefficients, expansion.intercept
    if not isinstance(support, kernel.domain):
        raise ModelFileError(f"its kernel compares {kernel.domain.kind}, but its support objects are {support.kind}.")
    if coefficients.dtype != np.float64 or coefficients.ndim != 2 or len(coefficients) != len(support):
        raise ModelFileError(f"it has {len(support)} support objects, but coefficients of shape {coefficients.shape}.")
    if intercept.dtype != np.float64 or intercept.shape != coefficients.shape[1:]:
        raise ModelFileError(
            f"it has {coefficients.shape[1]} columns of coefficients, but intercepts of shape {intercept.shape}."
        )
    if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
        raise ModelFileError("its coefficients are not finite.")
    if len(support):
        _check_state(expansion)


def _check_state(expansion: Expansion) -> None:
    """Check that the state has the form that the kernel resolves from a few support objects."""
    kernel, state = expansion.kernel.kernel, expansion.kernel.state
    form: State | None = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few objects may cause warnings
        # Some kernels cannot be resolved from so little (precomputed ones no longer have a matrix).
        with contextlib.suppress(Exception):
            form = kernel.resolve(expansion.support.take(slice(0, 2)))
        if form is not None:
            _compare(state, form)
        expansion.kernel.features(expansion.support.take(slice(0, 1)))


def _same_names(state: State, form: State) -> bool:
    missing = form.values.keys() - state.values.keys()
    return missing <= _LATER and not state.values.keys() - form.values.keys()


def _compare(state: State, form: State) -> None:
    wrong = "its kernel has a state that does not belong to it"
    if not _same_names(state, form) or len(state.parts) != len(form.parts):
        raise ModelFileError(f"{wrong}.")
    for name, found in state.values.items():
        expected = np.asarray(form.values[name])
        if found.dtype.kind != expected.dtype.kind or found.ndim != expected.ndim:
            raise ModelFileError(f"{wrong}: {name!r} is of the wrong type or shape.")
        if found.dtype.kind == "f" and np.isnan(found).any():
            raise ModelFileError(f"{wrong}: {name!r} holds NaN.")
    if type(state.objects) is not type(form.objects):
        raise ModelFileError(f"{wrong}: its objects are of another kind.")
    for part, part_form in zip(state.parts, form.parts, strict=True):
        _compare(part, part_form)
