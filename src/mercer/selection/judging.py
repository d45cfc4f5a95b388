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
from sklearn.utils.validation import _check_method_params

from mercer._types import Indices
from mercer.inputs.base import Objects
from mercer.solvers.drive import Stopped


@final
@dataclass(frozen=True, eq=False)
class Judge:
    """The data, and how fits on them are scored."""

    X: Any
    y: Any
    scorer: Any
    error_score: Any
    train_scores: bool = False
    fit_params: Mapping[str, Any] = field(default_factory=dict)
    score_params: Mapping[str, Any] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    """Methods whose values on held-out objects are kept."""

    @property
    def looks_at_predictions_alone(self) -> bool:
        """Whether the scorer hands objects to the estimator and does nothing else with them."""
        return isinstance(self.scorer, _BaseScorer | _MultimetricScorer | _PassthroughScorer)

    def parts(self, model: Any, train: Indices, test: Indices) -> tuple[Any, Any]:
        """Both parts of X as it was given."""
        return parts_of(model, self.X, train, test)

    def targets(self, rows: Indices) -> Any:
        """The targets of these objects; None if there are none."""
        return None if self.y is None else _safe_indexing(self.y, rows)

    def meant_for(self, prefix: str) -> bool:
        """Whether all parameters of fits are meant for the step of a pipeline with this prefix."""
        return all(name.startswith(prefix) for name in self.fit_params)

    def verdict(
        self, model: Any, known: Any, new: Any, train: Indices, test: Indices, prefix: str = ""
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Fit on the objects `known`, score on the objects `new`: times, scores, what went wrong; and what was kept.

        A model that is a step of a pipeline is given parameters without their `prefix`.
        """
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
        result["test_scores"] = self._scores(model, new, y_test, test)
        result["score_time"] = time.monotonic() - fitted
        if self.train_scores:
            result["train_scores"] = self._scores(model, known, y_train, train)
        return result, {name: np.asarray(getattr(model, name)(new)) for name in self.kept}

    def undone(self, like: dict[str, Any] | None) -> dict[str, Any]:
        """The result of a fit that was never made; `like` is one that was."""
        scores = self.unscored(np.nan)
        if like is not None and isinstance(like["test_scores"], dict):
            scores = dict.fromkeys(like["test_scores"], np.nan)
        empty = {"fit_error": None, "n_test_samples": 0, "fit_time": np.nan, "score_time": np.nan}
        return empty | dict.fromkeys(self._kinds(), scores)

    def unscored(self, value: float) -> Any:
        """`value` in the place of each score."""
        return dict.fromkeys(self.scorer._scorers, value) if isinstance(self.scorer, _MultimetricScorer) else value

    def _kinds(self) -> tuple[str, ...]:
        return ("test_scores", "train_scores") if self.train_scores else ("test_scores",)

    def _scores(self, model: Any, objects: Any, y: Any, index: Indices) -> Any:
        params = _check_method_params(self.X, params=self.score_params, indices=index) if self.score_params else {}
        return _score(model, objects, y, self.scorer, params, self.error_score)


def parts_of(model: Any, X: Any, train: Indices, test: Indices) -> tuple[Any, Any]:
    """Objects to train and to test a model on; of a Gram matrix, rows and columns."""
    if isinstance(X, Objects):
        return X.take(train), X.take(test)
    return _safe_split(model, X, None, train)[0], _safe_split(model, X, None, test, train)[0]
