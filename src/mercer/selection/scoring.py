"""One fit and its score: what scikit-learn's searches do for each setting and fold."""

from __future__ import annotations

import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from sklearn.metrics._scorer import _BaseScorer, _MultimetricScorer, _PassthroughScorer
from sklearn.model_selection._validation import _score
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, _num_samples

from mercer._types import Indices
from mercer.inputs.base import Objects
from mercer.solvers.drive import Stopped
from mercer.training.folds import Split


@final
@dataclass(frozen=True, eq=False)
class FoldScorer:
    """The data, and how machines trained on part of them are scored on the rest."""

    X: Any
    y: Any
    scorer: Any
    error_score: Any
    train_scores: bool = False
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    held_out: tuple[str, ...] = ()
    """Methods whose values on test objects are kept."""
    attributes: tuple[str, ...] = ()
    """Attributes of fitted models that are kept in the results."""

    def __len__(self) -> int:
        return int(_num_samples(self.X))

    @property
    def scores_predictions(self) -> bool:
        """Whether the scorer only passes objects on to the estimator: they can then be rows of a matrix."""
        return isinstance(self.scorer, _BaseScorer | _MultimetricScorer | _PassthroughScorer)

    def parts(self, model: Any, split: Split) -> tuple[Any, Any]:
        """Both parts of X, in its original form."""
        return parts_of(model, self.X, *split)

    def targets(self, rows: Indices) -> Any:
        """The targets of these objects; None if there are none."""
        return None if self.y is None else _safe_indexing(self.y, rows)

    def weights(self, rows: Indices, prefix: str) -> Any:
        """The weights of these objects for the step of a pipeline with this prefix; None if there are none."""
        found = self.fit_params.get(f"{prefix}sample_weight")
        return None if found is None else _safe_indexing(found, rows)

    def fits_only(self, prefix: str) -> bool:
        """Whether all parameters of `fit` are for the step of a pipeline with this prefix."""
        return all(name.startswith(prefix) for name in self.fit_params)

    def fit_and_score(
        self, model: Any, parts: tuple[Any, Any], split: Split, prefix: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Fit on the training part and score on the test part: times, scores and errors; and the values to be kept.

        A model that is a step of a pipeline gets its parameters without their `prefix`.
        """
        (known, new), (train, test) = parts, split
        y_train, y_test = self.targets(train), self.targets(test)
        result: dict[str, Any] = {"fit_error": None, "n_test_samples": len(test)}
        began = time.monotonic()
        try:
            fit_params = _check_method_params(self.X, params=self.fit_params, indices=train) if self.fit_params else {}
            fit_params = {name.removeprefix(prefix): value for name, value in fit_params.items()}
            model.fit(known, **fit_params) if y_train is None else model.fit(known, y_train, **fit_params)
        except Stopped:
            raise
        except Exception:
            if self.error_score == "raise":
                raise
            result.update(fit_error=traceback.format_exc(), fit_time=time.monotonic() - began, score_time=0.0)
            return result | dict.fromkeys(self._kinds(), self.unscored(self.error_score)), {}
        fitted = time.monotonic()
        result["fit_time"] = fitted - began
        result |= {name: getattr(model, name) for name in self.attributes}
        result["test_scores"] = self._scores(model, new, y_test, test)
        result["score_time"] = time.monotonic() - fitted
        if self.train_scores:
            result["train_scores"] = self._scores(model, known, y_train, train)
        return result, {name: np.asarray(getattr(model, name)(new)) for name in self.held_out}

    def not_run(self, like: dict[str, Any] | None) -> dict[str, Any]:
        """The result for a fit that was not run; `like` is the result of one that was."""
        scores = self.unscored(np.nan)
        if like is not None and isinstance(like["test_scores"], dict):
            scores = dict.fromkeys(like["test_scores"], np.nan)
        empty = {"fit_error": None, "n_test_samples": 0, "fit_time": np.nan, "score_time": np.nan}
        return empty | dict.fromkeys(self._kinds(), scores)

    def unscored(self, value: float) -> Any:
        """`value` in place of each score."""
        return dict.fromkeys(scorers_of(self.scorer), value) if isinstance(self.scorer, _MultimetricScorer) else value

    def _kinds(self) -> tuple[str, ...]:
        return ("test_scores", "train_scores") if self.train_scores else ("test_scores",)

    def _scores(self, model: Any, objects: Any, y: Any, index: Indices) -> Any:
        params = _check_method_params(self.X, params=self.score_params, indices=index) if self.score_params else {}
        return _score(model, objects, y, self.scorer, params, self.error_score)


def scorers_of(scorer: Any) -> Any:
    """The scorers by name if there are several; otherwise the scorer itself."""
    return getattr(scorer, "_scorers", scorer)


def parts_of(model: Any, X: Any, train: Indices, test: Indices) -> tuple[Any, Any]:
    """Objects to train and to test a model on; for a Gram matrix, rows and columns."""
    if isinstance(X, Objects):
        return X.take(train), X.take(test)
    return _safe_split(model, X, None, train)[0], _safe_split(model, X, None, test, train)[0]
