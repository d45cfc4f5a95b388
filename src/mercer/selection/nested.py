"""An unbiased score for a model that chooses its own parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import indexable

from mercer._progress import heard, reporting
from mercer._types import Float64
from mercer.inputs.base import Objects
from mercer.inputs.tables import Table
from mercer.kernels.memory import calls
from mercer.selection.cross_validation import CrossValidation
from mercer.selection.scoring import FoldScorer
from mercer.selection.settings import settings_of
from mercer.training.folds import make_folds


@final
@dataclass(frozen=True, eq=False)
class NestedScores:
    """The result of a nested cross-validation.

    `scores` were measured on objects that played no part in choosing parameters; `best_scores` are the search's own.
    If the parameters differ from fold to fold, the choice depends on the sample.
    """

    scores: Float64
    best_scores: Float64
    params: tuple[dict[str, Any], ...]

    @property
    def mean(self) -> float:
        return float(self.scores.mean())

    @property
    def spread(self) -> float:
        """The standard deviation over folds."""
        return float(self.scores.std(ddof=1)) if len(self.scores) > 1 else 0.0

    @property
    def optimism(self) -> float:
        """How much the search overestimates its score."""
        return float(self.best_scores.mean() - self.scores.mean())

    def __str__(self) -> str:
        claimed = self.mean + self.optimism
        return f"{self.mean:.4g} +- {self.spread:.2g} over {len(self.scores)} folds (the search says {claimed:.4g})"


def nested_cross_validate(
    search: Any, X: Any, y: Any, *, cv: Any = None, scoring: Any = None, groups: Any = None
) -> NestedScores:
    """Run a whole search inside each fold of an outer cross-validation, and score the result on the test part.

    The best score of a search is too optimistic, since it belongs to the luckiest of many settings. The score returned
    here is not.

    Parameters
    ----------
    search : a `KernelSearchCV`, or any estimator of scikit-learn with `best_params_` and `best_score_`.
    cv, scoring : for the outer folds, as in scikit-learn; `scoring` defaults to that of the search.
    groups : for outer and inner splitters that use them.

    >>> from mercer import KernelSearchCV, SVC, nested_cross_validate
    >>> X = [[float(i % 7), float(i % 5)] for i in range(60)]
    >>> y = [int(i % 7 > 2) for i in range(60)]
    >>> found = nested_cross_validate(KernelSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3), X, y, cv=4)
    >>> round(found.mean, 2)
    1.0
    """
    if isinstance(X, Mapping) and not sp.issparse(X):  # a table: its length is that of its columns
        X = Table.coerce(X)
    if not isinstance(X, Objects):
        X, y = indexable(X, y)
    splits = make_folds(cv, X, y, classifier=is_classifier(search), groups=groups)
    inner = {} if groups is None else {"groups": groups}
    attributes = "best_score_", "best_params_"
    scorer = FoldScorer(X, y, check_scoring(search, scoring), "raise", fit_params=inner, attributes=attributes)
    # One outer fold at a time: the searches inside have all cores, or all workers of a cluster.
    validation = CrossValidation(settings_of(search, [{}], X, share=False), splits, scorer, threads=1, workers=0)
    with reporting("Nested cross-validation") as report, heard(report), calls.once():
        folds = validation.run().results[0]
    best_scores, params = ([fold[name] for fold in folds if fold is not None] for name in attributes)
    return NestedScores(validation.scores(0), np.asarray(best_scores), tuple(params))
