"""Docstrings are held to signatures and to fitted attributes: every parameter and every attribute has a line."""

import inspect
import re
import warnings

import numpy as np
import pytest

import mercer
from mercer._registry import KERNELS

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
LEARNERS = [
    name for name in mercer.__all__ if inspect.isclass(getattr(mercer, name)) and hasattr(getattr(mercer, name), "fit")
]
NEEDED = {
    "MultipleKernelMachine": lambda cls: cls(mercer.SVC(), ["rbf", "linear"]),
    "KernelSearchCV": lambda cls: cls(mercer.SVC(), {"C": [1.0, 2.0]}, cv=2),
    "Cells": lambda cls: cls(mercer.SVC()),
    "SVC": lambda cls: cls(probability=True, random_state=0),
}


def section(cls, heading):
    """The names that a section of a docstring explains: ``one, two : what they are``."""
    text = inspect.getdoc(cls) or ""
    found = re.search(rf"^{heading}\n-+\n(.*?)(?:\n\n|\Z)", text, re.DOTALL | re.MULTILINE)
    if found is None:
        return set()
    names = re.findall(r"^((?:[A-Za-z_]\w*,\s+)*[A-Za-z_]\w*) :", found.group(1), re.MULTILINE)
    return {name for group in names for name in re.findall(r"\w+", group)}


@pytest.mark.parametrize("name", LEARNERS)
def test_parameters(name):
    cls = getattr(mercer, name)
    assert section(cls, "Parameters") == set(inspect.signature(cls).parameters)


@pytest.mark.parametrize("name", LEARNERS)
def test_fitted_attributes(name):
    cls = getattr(mercer, name)
    model = NEEDED.get(name, lambda cls: cls())(cls)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, X[:, :2]) if name == "KernelCCA" else model.fit(X, Y)
    members = inspect.getmembers_static(cls, lambda member: isinstance(member, property))
    fitted = {one for one in (*vars(model), *dict(members)) if one.endswith("_") and not one.startswith("_")}
    told = section(cls, "Attributes")
    assert fitted - told == set(), f"{name} does not explain these"
    assert told - fitted <= {"feature_names_in_", "calibration_"}, f"{name} explains what does not exist"


def test_the_parser_sees_what_is_missing():
    class Learner:
        """A learner.

        Parameters
        ----------
        one, two,
        three : numbers: not a name.
            four : is not one of them.

        Attributes
        ----------
        found_ : what was found.
        """

    assert section(Learner, "Parameters") == {"one", "two", "three"}
    assert section(Learner, "Attributes") == {"found_"}


@pytest.mark.parametrize("name", KERNELS)
def test_parameters_of_kernels(name):
    """A kernel's docstring, or that of a class it derives from, names every parameter."""
    cls = KERNELS[name].load()
    text = " ".join(inspect.getdoc(base) or "" for base in cls.__mro__ if base.__module__.startswith("mercer"))
    text += str(getattr(cls, "formula", ""))
    missing = [one for one in inspect.signature(cls).parameters if not re.search(rf"\b{one}\b", text)]
    assert missing == []
