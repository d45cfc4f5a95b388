"""Tags of estimators that hold another one: most are those of the inner estimator."""

from __future__ import annotations

from typing import Any

from sklearn.utils import get_tags


def with_inner_tags(tags: Any, estimator: Any) -> Any:
    """The tags of an estimator, with what it learns and accepts taken from the one that it holds."""
    inner = get_tags(estimator)
    tags.estimator_type, tags.input_tags = inner.estimator_type, inner.input_tags
    tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
    tags.target_tags.required = True
    return tags
