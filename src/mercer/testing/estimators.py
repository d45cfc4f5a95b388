"""The conformance suite of estimators on structured objects, where scikit-learn's own checks say nothing.

scikit-learn's common checks need rows of numbers. These repeat them on lists of strings, graphs, or anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils import _safe_indexing

from mercer.testing.checks import (
    COPIED,
    Check,
    RoundTrips,
    fingerprint,
    named,
    require,
    require_close,
    require_raises,
    require_unchanged,
    run_all,
)

_OUTPUTS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")


@final
@dataclass(frozen=True, eq=False)
class _Subject:
    """An unfitted estimator, objects and targets."""

    estimator: Any
    X: Any
    y: Any

    @property
    def fresh(self) -> Any:
        return clone(self.estimator)

    @cached_property
    def fitted(self) -> Any:
        return self.fresh.fit(self.X, self.y)

    @cached_property
    def methods(self) -> list[str]:
        return [name for name in _OUTPUTS if callable(getattr(self.fitted, name, None))]

    @property
    def size(self) -> int:
        return len(self.y)

    def at(self, index: Any) -> Any:
        """The objects at these positions, in the form they were given in."""
        return _safe_indexing(self.X, np.arange(self.size)[index])

    def require_same(self, other: Any, what: str, *, exactly: bool = False) -> None:
        """Fail unless another fitted estimator gives the same outputs on all objects."""
        for name in self.methods:
            _require_alike(_output(self.fitted, name, self.X), _output(other, name, self.X), f"{name} {what}", exactly)


def structured_estimator_checks(estimator: Any, X: Any, y: Any, *, round_trips: RoundTrips = COPIED) -> Iterator[Check]:
    """Every convention that an estimator keeps on any kind of objects, as named checks.

    `X` is a sequence of objects (at least four per class), `y` their targets. `round_trips` are ways of copying a
    fitted estimator, pickling or a model file for example, that must keep its predictions.
    """
    subject = _Subject(estimator, X, y)
    yield from _always(subject)
    if is_classifier(estimator):
        yield from _for_classifiers(subject)
    for name, copied in round_trips.items():
        yield Check(f"estimator_round_trip_{name}", partial(_round_trip, subject, name, copied))


def check_structured_estimator(estimator: Any, X: Any, y: Any, *, round_trips: RoundTrips = COPIED) -> None:
    """Run every check of `structured_estimator_checks`; AssertionError lists those that fail."""
    run_all(estimator, structured_estimator_checks(estimator, X, y, round_trips=round_trips))


def parameters_untouched(subject: _Subject) -> None:
    """`fit` returns the estimator, and leaves its parameters as they were given."""
    estimator = subject.fresh
    before = estimator.get_params()
    require(estimator.fit(subject.X, subject.y) is estimator, "fit does not return the estimator")
    after = estimator.get_params()
    changed = [name for name, value in before.items() if after.get(name) is not value and after.get(name) != value]
    require(not changed and before.keys() == after.keys(), f"fit changed the parameters {', '.join(changed)}")


def input_untouched(subject: _Subject) -> None:
    """Neither fit nor prediction writes to X or y."""
    before = fingerprint([subject.X, subject.y])
    fitted = subject.fresh.fit(subject.X, subject.y)
    require_unchanged(before, [subject.X, subject.y], "fit")
    for name in subject.methods:
        _output(fitted, name, subject.X)
        require_unchanged(before, [subject.X, subject.y], name)


def refitting(subject: _Subject) -> None:
    """A second fit forgets the first: other data in between leave no trace."""
    estimator = subject.fresh.fit(subject.at(slice(None, None, -1)), np.asarray(subject.y)[::-1])
    kept = sorted(vars(estimator))
    estimator.fit(subject.X, subject.y)
    subject.require_same(estimator, "differs after a second fit", exactly=True)
    require(sorted(vars(estimator)) == kept, "a second fit leaves other attributes")


def determinism(subject: _Subject) -> None:
    """Two fits of the same data give the same bits."""
    subject.require_same(subject.fresh.fit(subject.X, subject.y), "differs between two equal fits", exactly=True)


def subsets(subject: _Subject) -> None:
    """What is predicted for an object does not depend on the company it comes in."""
    for name in subject.methods:
        whole = _output(subject.fitted, name, subject.X)
        for index in (slice(0, 1), slice(1, 4), slice(None, None, 3)):
            part = _output(subject.fitted, name, subject.at(index))
            _require_alike(whole[np.arange(subject.size)[index]], part, f"{name} of a subset differs", False)


def order(subject: _Subject) -> None:
    """... nor on their order."""
    shuffled = np.random.default_rng(0).permutation(subject.size)
    for name in subject.methods:
        whole = _output(subject.fitted, name, subject.X)
        _require_alike(
            whole[shuffled], _output(subject.fitted, name, subject.at(shuffled)), f"{name} depends on order", False
        )


def containers(subject: _Subject) -> None:
    """A list, a tuple and a read-only array of the same objects are the same data."""
    if not isinstance(subject.X, list | tuple):
        return
    array = np.empty(subject.size, dtype=object)
    for position, item in enumerate(subject.X):  # item by item: np.array would take nested objects apart
        array[position] = item
    array.flags.writeable = False
    targets = np.array(subject.y)
    targets.flags.writeable = False
    for X in (list(subject.X), tuple(subject.X), array):
        subject.require_same(subject.fresh.fit(X, targets), f"differs when X is a {type(X).__name__}", exactly=True)


def read_only(subject: _Subject) -> None:
    """Arrays that cannot be written to are fine."""
    if not isinstance(subject.X, np.ndarray):
        return
    X, y = subject.X.copy(), np.array(subject.y)
    X.flags.writeable = y.flags.writeable = False
    subject.require_same(subject.fresh.fit(X, y), "differs on read-only arrays", exactly=True)


def not_fitted(subject: _Subject) -> None:
    """Prediction before fit is NotFittedError."""
    for name in subject.methods:
        require_raises(NotFittedError, partial(_output, subject.fresh, name, subject.X), f"{name} before fit")


def lengths(subject: _Subject) -> None:
    """X and y of different lengths are refused, with both lengths."""
    short = np.asarray(subject.y)[:-1]
    message = require_raises(ValueError, lambda: subject.fresh.fit(subject.X, short), "one target too few")
    told = str(subject.size) in message and str(subject.size - 1) in message
    require(told, f"the refusal of X and y of different lengths does not give the lengths: {message}")


def nothing(subject: _Subject) -> None:
    """No objects at all are refused."""
    require_raises(ValueError, lambda: subject.fresh.fit(subject.at(slice(0, 0)), []), "fit on no objects")


def failed_fit(subject: _Subject) -> None:
    """A fit that fails leaves an unfitted estimator unfitted."""
    estimator = subject.fresh
    before = set(vars(estimator))
    require_raises(ValueError, lambda: estimator.fit(subject.X, np.asarray(subject.y)[:-1]), "one target too few")
    learnt = [name for name in set(vars(estimator)) - before if name.endswith("_")]
    require(not learnt, f"a failed fit left {', '.join(learnt)} behind")


def cloning(subject: _Subject) -> None:
    """A clone has equal parameters and nothing learnt."""
    twin = clone(subject.fitted)
    require(repr(twin) == repr(subject.estimator), f"the clone {twin!r} differs from {subject.estimator!r}")
    learnt = [name for name in vars(twin) if name.endswith("_") and not name.startswith("_")]
    require(not learnt, f"a clone has the learnt attributes {', '.join(learnt)}")


def cross_validation(subject: _Subject) -> None:
    """scikit-learn's cross-validation works on the objects as they are."""
    scores = cross_val_score(subject.fresh, subject.X, subject.y, cv=2, error_score="raise")
    require(np.isfinite(scores).all(), f"cross-validation gives {scores}")


def one_class(subject: _Subject) -> None:
    """A single class is refused by its name."""
    only = np.asarray(subject.y)[:1].repeat(subject.size)
    message = require_raises(ValueError, lambda: subject.fresh.fit(subject.X, only), "a single class")
    require(str(only[0]) in message, f"the refusal of a single class does not name it: {message}")


def labels(subject: _Subject) -> None:
    """`classes_` are the labels, sorted; predictions are among them and are of their type."""
    wanted = np.unique(np.asarray(subject.y))
    require(np.array_equal(subject.fitted.classes_, wanted), f"classes_ are {subject.fitted.classes_}, not {wanted}")
    predicted = subject.fitted.predict(subject.X)
    require(predicted.shape == (subject.size,), f"predictions of shape {predicted.shape}, not ({subject.size},)")
    require(np.isin(predicted, wanted).all(), "predictions that are no class")


def renamed_labels(subject: _Subject) -> None:
    """Labels are names: with text for numbers, in the same order, predictions are the same."""
    classes, codes = np.unique(np.asarray(subject.y), return_inverse=True)
    names = np.asarray([f"class {number:03d}" for number in range(len(classes))])
    other = subject.fresh.fit(subject.X, names[codes]).predict(subject.X)
    wanted = names[np.searchsorted(classes, subject.fitted.predict(subject.X))]
    require(np.array_equal(other, wanted), "predictions depend on how the classes are called")


_always = named(
    "estimator", input_untouched, parameters_untouched, refitting, determinism, subsets, order, containers, read_only,
    not_fitted, lengths, nothing, failed_fit, cloning, cross_validation,
)  # fmt: skip
_for_classifiers = named("classifier", one_class, labels, renamed_labels)


def _round_trip(subject: _Subject, name: str, copied: Callable[[Any], Any]) -> None:
    """A copy of the fitted estimator predicts the same."""
    twin = copied(subject.fitted)
    require(repr(twin) == repr(subject.fitted), f"the estimator after {name} has other parameters")
    subject.require_same(twin, f"differs after {name}", exactly=True)


def _output(estimator: Any, name: str, X: Any) -> Any:
    return np.asarray(getattr(estimator, name)(X))


def _require_alike(wanted: Any, got: Any, what: str, exactly: bool) -> None:
    if exactly or wanted.dtype.kind != "f":
        require(np.array_equal(wanted, got), what)
    else:
        require_close(got, wanted, 1e-9 * max(1.0, float(np.abs(wanted).max(initial=0.0))), what)
