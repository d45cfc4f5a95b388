"""A correct estimator on strings, and the same with one bug each."""

import itertools

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError


class GoodEstimator(ClassifierMixin, BaseEstimator):
    """Strings are classified by their letters: the class whose mean count is nearest."""

    def __init__(self, letters="ACGT", power=2):
        self.letters = letters
        self.power = power

    def _counts(self, X):
        if isinstance(X, str) or len(X) == 0:
            raise ValueError("Found 0 strings while a minimum of 1 is required.")
        return np.array([[x.count(letter) for letter in self.letters] for x in X], dtype=float)

    def fit(self, X, y):
        y = np.asarray(y)
        if len(X) != len(y):
            raise ValueError(f"X has {len(X)} objects, y {len(y)}.")
        counts = self._counts(X)
        classes = np.unique(y)
        if len(classes) < 2:
            raise ValueError(f"Only one class: {classes[0]!r}.")
        self.classes_ = classes
        self.means_ = np.array([counts[y == label].mean(axis=0) for label in classes])
        return self

    def decision_function(self, X):
        if "means_" not in vars(self):
            raise NotFittedError("Call fit first.")
        return -(np.abs(self._counts(X)[:, None] - self.means_[None]) ** self.power).sum(axis=2)

    def predict(self, X):
        nearest = self.decision_function(X).argmax(axis=1)
        return self.classes_[nearest]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array, tags.input_tags.string = False, True
        return tags


ESTIMATORS = []


def plant(check, *others):
    def register(cls):
        ESTIMATORS.append((cls, check, set(others)))
        return cls

    return register


@plant("estimator_parameters_untouched", "estimator_cloning", "estimator_determinism", "estimator_refitting",
                  "estimator_round_trip_pickle")  # fmt: skip
class ChangesItsParameters(GoodEstimator):
    def fit(self, X, y):
        self.power = self.power + 0.5
        return super().fit(X, y)


@plant("estimator_parameters_untouched", "estimator_cloning", "estimator_round_trip_pickle")
class ReturnsAnother(GoodEstimator):
    def fit(self, X, y):
        super().fit(X, y)
        return _Fitted(self)


class _Fitted:
    """What looks like the estimator and is not it."""

    def __init__(self, inner):
        self.__dict__["inner"] = inner

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.inner, name)


@plant("estimator_input_untouched", "estimator_determinism", "estimator_refitting", "estimator_subsets",
                  "estimator_order", "estimator_containers", "classifier_renamed_labels")  # fmt: skip
class WritesToX(GoodEstimator):
    def fit(self, X, y):
        super().fit(X, y)
        if isinstance(X, list) and not X[0].endswith("!"):
            X[0] = X[0] + "!"
        return self


@plant("estimator_refitting", "estimator_cloning")
class Remembers(GoodEstimator):
    """Averages with what an earlier fit learnt."""

    def fit(self, X, y):
        before = self.means_ if "means_" in vars(self) else None
        super().fit(X, y)
        if before is not None and before.shape == self.means_.shape:
            self.means_ = (self.means_ + 0.5 * before) * 0.9
        return self


@plant("estimator_refitting")
class LeavesTraces(GoodEstimator):
    def fit(self, X, y):
        if "means_" in vars(self):
            self.again_ = True
        return super().fit(X, y)


_fits = itertools.count()


@plant("estimator_determinism", "estimator_refitting", "estimator_containers")
class Random(GoodEstimator):
    def fit(self, X, y):
        super().fit(X, y)
        self.means_ = self.means_ + 1e-9 * next(_fits)
        return self


@plant("estimator_subsets")
class DependsOnTheBatch(GoodEstimator):
    def decision_function(self, X):
        return super().decision_function(X) + 1e-3 * len(X)


@plant("estimator_order", "estimator_subsets")
class DependsOnTheOrder(GoodEstimator):
    def decision_function(self, X):
        values = super().decision_function(X)
        return values + 1e-3 * np.arange(len(values))[:, None]


@plant("estimator_containers", "estimator_cross_validation")
class ListsOnly(GoodEstimator):
    def fit(self, X, y):
        if isinstance(X, np.ndarray):
            X.sort()
        return super().fit(X, y)


@plant("estimator_read_only")
class WritesToItsArray(GoodEstimator):
    def fit(self, X, y):
        if isinstance(X, np.ndarray) and len(X):
            X[0] = X[0]
        return super().fit(X, y)


@plant("estimator_not_fitted")
class PredictsUnfitted(GoodEstimator):
    def decision_function(self, X):
        if "means_" not in vars(self):
            return np.zeros((len(X), 2))
        return super().decision_function(X)

    def predict(self, X):
        return np.zeros(len(X)) if "means_" not in vars(self) else super().predict(X)


@plant("estimator_lengths", "estimator_failed_fit")
class CutsToLength(GoodEstimator):
    def fit(self, X, y):
        return super().fit(X[: len(y)], y)


@plant("estimator_lengths")
class SaysNothingOfLengths(GoodEstimator):
    def fit(self, X, y):
        if len(X) != len(y):
            raise ValueError("X and y do not match.")
        return super().fit(X, y)


@plant("estimator_nothing")
class FitsNothing(GoodEstimator):
    def fit(self, X, y):
        return self if len(X) == 0 else super().fit(X, y)


@plant("estimator_failed_fit")
class HalfSet(GoodEstimator):
    def fit(self, X, y):
        self.means_ = None
        return super().fit(X, y)


@plant("estimator_cloning")
class LearnsInInit(GoodEstimator):
    def __init__(self, letters="ACGT", power=2):
        super().__init__(letters, power)
        self.ready_ = True


@plant("estimator_cross_validation")
class FailsOnHalf(GoodEstimator):
    def fit(self, X, y):
        if len(X) < 10:
            raise ValueError("too few")
        return super().fit(X, y)


@plant("classifier_one_class")
class AcceptsOneClass(GoodEstimator):
    def fit(self, X, y):
        if len(np.unique(y)) == 1:
            return self
        return super().fit(X, y)


@plant("classifier_one_class")
class DoesNotNameTheClass(GoodEstimator):
    def fit(self, X, y):
        if len(np.unique(y)) == 1:
            raise ValueError("Too few classes.")
        return super().fit(X, y)


@plant("classifier_labels", "classifier_renamed_labels")
class PredictsCodes(GoodEstimator):
    def predict(self, X):
        return self.decision_function(X).argmax(axis=1) + 100


@plant("classifier_renamed_labels")
class ReadsTheNames(GoodEstimator):
    def fit(self, X, y):
        super().fit(X, y)
        if self.classes_.dtype.kind == "U":
            self.means_ = self.means_[::-1]
        return self


@plant("estimator_round_trip_pickle")
class ForgetsMeans(GoodEstimator):
    def __getstate__(self):
        state = dict(super().__getstate__())
        if "means_" in state:
            state["means_"] = state["means_"] * (1 + 1e-9)
        return state
