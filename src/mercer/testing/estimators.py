"""The conformance suite of estimators on structured objects, which scikit-learn's own checks do not cover.

scikit-learn's common checks need rows of numbers. These repeat them on lists of strings, graphs, or anything else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils import _safe_indexing

from mercer._cached import cached_property
from mercer.testing.checks import (
    COPIED,
    Check,
    RoundTrips,
    Suite,
    fingerprint,
    require,
    require_close,
    require_raises,
    require_unchanged,
    run_all,
)

_OUTPUTS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")


@dataclass(frozen=True, eq=False)
class _Subject(Suite):
    """An unfitted estimator, objects and targets."""

    estimator: Any
    X: Any
    y: Any
    round_trips: RoundTrips | None = None

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

    def _at(self, index: Any) -> Any:
        """The objects at these positions, in the form they were given in."""
        return _safe_indexing(self.X, np.arange(self.size)[index])

    def _require_same(self, other: Any, what: str, *, exactly: bool = False) -> None:
        """Fail unless another fitted estimator gives the same outputs on all objects."""
        for name in self.methods:
            _require_alike(_output(self.fitted, name, self.X), _output(other, name, self.X), f"{name} {what}", exactly)


@final
@dataclass(frozen=True, eq=False)
class _EstimatorSuite(_Subject):
    """What every estimator promises."""

    prefix = "estimator"

    def input_untouched(self) -> None:
        """Neither fit nor prediction writes to X or y."""
        before = fingerprint([self.X, self.y])
        fitted = self.fresh.fit(self.X, self.y)
        require_unchanged(before, [self.X, self.y], "fit")
        for name in self.methods:
            _output(fitted, name, self.X)
            require_unchanged(before, [self.X, self.y], name)

    def parameters_untouched(self) -> None:
        """`fit` returns the estimator, and leaves its parameters as they were given."""
        estimator = self.fresh
        before = estimator.get_params()
        require(estimator.fit(self.X, self.y) is estimator, "fit does not return the estimator")
        after = estimator.get_params()
        changed = [name for name, value in before.items() if after.get(name) is not value and after.get(name) != value]
        require(not changed and before.keys() == after.keys(), f"fit changed the parameters {', '.join(changed)}")

    def refitting(self) -> None:
        """A second fit forgets the first: other data in between leave no trace."""
        estimator = self.fresh.fit(self._at(slice(None, None, -1)), np.asarray(self.y)[::-1])
        kept = sorted(vars(estimator))
        estimator.fit(self.X, self.y)
        self._require_same(estimator, "differs after a second fit", exactly=True)
        require(sorted(vars(estimator)) == kept, "a second fit leaves other attributes")

    def determinism(self) -> None:
        """Two fits of the same data give the same bits."""
        self._require_same(self.fresh.fit(self.X, self.y), "differs between two equal fits", exactly=True)

    def subsets(self) -> None:
        """The prediction for an object does not depend on the objects that come with it."""
        for name in self.methods:
            whole = _output(self.fitted, name, self.X)
            for index in (slice(0, 1), slice(1, 4), slice(None, None, 3)):
                part = _output(self.fitted, name, self._at(index))
                _require_alike(whole[np.arange(self.size)[index]], part, f"{name} of a subset differs", False)

    def order(self) -> None:
        """... nor on their order."""
        shuffled = np.random.default_rng(0).permutation(self.size)
        for name in self.methods:
            whole = _output(self.fitted, name, self.X)
            _require_alike(
                whole[shuffled], _output(self.fitted, name, self._at(shuffled)), f"{name} depends on order", False
            )

    def containers(self) -> None:
        """A list, a tuple and a read-only array of the same objects are the same data."""
        if not isinstance(self.X, list | tuple):
            return
        array = np.empty(self.size, dtype=object)
        for position, item in enumerate(self.X):  # item by item: np.array would take nested objects apart
            array[position] = item
        array.flags.writeable = False
        targets = np.array(self.y)
        targets.flags.writeable = False
        for X in (list(self.X), tuple(self.X), array):
            self._require_same(self.fresh.fit(X, targets), f"differs when X is a {type(X).__name__}", exactly=True)

    def read_only(self) -> None:
        """Arrays that cannot be written to are fine."""
        if not isinstance(self.X, np.ndarray):
            return
        X, y = self.X.copy(), np.array(self.y)
        X.flags.writeable = y.flags.writeable = False
        self._require_same(self.fresh.fit(X, y), "differs on read-only arrays", exactly=True)

    def not_fitted(self) -> None:
        """Prediction before fit raises NotFittedError."""
        for name in self.methods:
            require_raises(NotFittedError, partial(_output, self.fresh, name, self.X), f"{name} before fit")

    def lengths(self) -> None:
        """X and y of different lengths are refused, with both lengths."""
        short = np.asarray(self.y)[:-1]
        message = require_raises(ValueError, lambda: self.fresh.fit(self.X, short), "one target too few")
        told = str(self.size) in message and str(self.size - 1) in message
        require(told, f"the refusal of X and y of different lengths does not give the lengths: {message}")

    def nothing(self) -> None:
        """An empty input is refused."""
        require_raises(ValueError, lambda: self.fresh.fit(self._at(slice(0, 0)), []), "fit on no objects")

    def failed_fit(self) -> None:
        """A fit that fails leaves an unfitted estimator unfitted."""
        estimator = self.fresh
        before = set(vars(estimator))
        require_raises(ValueError, lambda: estimator.fit(self.X, np.asarray(self.y)[:-1]), "one target too few")
        learnt = [name for name in set(vars(estimator)) - before if name.endswith("_")]
        require(not learnt, f"a failed fit left {', '.join(learnt)} behind")

    def cloning(self) -> None:
        """A clone has equal parameters and nothing learnt."""
        twin = clone(self.fitted)
        require(repr(twin) == repr(self.estimator), f"the clone {twin!r} differs from {self.estimator!r}")
        learnt = [name for name in vars(twin) if name.endswith("_") and not name.startswith("_")]
        require(not learnt, f"a clone has the learnt attributes {', '.join(learnt)}")

    def cross_validation(self) -> None:
        """scikit-learn's cross-validation works on the objects as they are."""
        scores = cross_val_score(self.fresh, self.X, self.y, cv=2, error_score="raise")
        require(np.isfinite(scores).all(), f"cross-validation gives {scores}")

    def _round_trip(self, name: str, copied: Callable[[Any], Any]) -> None:
        """A copy of the fitted estimator predicts the same."""
        twin = copied(self.fitted)
        require(repr(twin) == repr(self.fitted), f"the estimator after {name} has other parameters")
        self._require_same(twin, f"differs after {name}", exactly=True)


@final
@dataclass(frozen=True, eq=False)
class _ClassifierSuite(_Subject):
    """What classifiers promise in addition."""

    prefix = "classifier"

    def one_class(self) -> None:
        """A single class is refused, with a message that names it."""
        only = np.asarray(self.y)[:1].repeat(self.size)
        message = require_raises(ValueError, lambda: self.fresh.fit(self.X, only), "a single class")
        require(str(only[0]) in message, f"the refusal of a single class does not name it: {message}")

    def labels(self) -> None:
        """`classes_` are the labels, sorted; predictions are among them and are of their type."""
        wanted = np.unique(np.asarray(self.y))
        require(np.array_equal(self.fitted.classes_, wanted), f"classes_ are {self.fitted.classes_}, not {wanted}")
        predicted = self.fitted.predict(self.X)
        require(predicted.shape == (self.size,), f"predictions of shape {predicted.shape}, not ({self.size},)")
        require(np.isin(predicted, wanted).all(), "predictions that are not classes")

    def renamed_labels(self) -> None:
        """Labels are only names: with text instead of numbers, in the same order, predictions are the same."""
        classes, codes = np.unique(np.asarray(self.y), return_inverse=True)
        names = np.asarray([f"class {number:03d}" for number in range(len(classes))])
        other = self.fresh.fit(self.X, names[codes]).predict(self.X)
        wanted = names[np.searchsorted(classes, self.fitted.predict(self.X))]
        require(np.array_equal(other, wanted), "predictions depend on what the classes are called")


def structured_estimator_checks(estimator: Any, X: Any, y: Any, *, round_trips: RoundTrips = COPIED) -> Iterator[Check]:
    """Every convention that an estimator keeps on any kind of objects, as named checks.

    `X` is a sequence of objects (at least four per class), `y` their targets. `round_trips` are ways of copying a
    fitted estimator, pickling or a model file for example, that must keep its predictions.
    """
    yield from _EstimatorSuite(estimator, X, y, round_trips)
    if is_classifier(estimator):
        yield from _ClassifierSuite(estimator, X, y)


def check_structured_estimator(estimator: Any, X: Any, y: Any, *, round_trips: RoundTrips = COPIED) -> None:
    """Run every check of `structured_estimator_checks`; AssertionError lists those that fail."""
    run_all(estimator, structured_estimator_checks(estimator, X, y, round_trips=round_trips))


def _output(estimator: Any, name: str, X: Any) -> Any:
    return np.asarray(getattr(estimator, name)(X))


def _require_alike(wanted: Any, got: Any, what: str, exactly: bool) -> None:
    if exactly or wanted.dtype.kind != "f":
        require(np.array_equal(wanted, got), what)
    else:
        require_close(got, wanted, 1e-9 * max(1.0, float(np.abs(wanted).max(initial=0.0))), what)
