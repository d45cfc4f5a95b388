"""Methods on new objects that return lazy results for lazy input."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from sklearn.utils.validation import check_is_fitted

from mercer import _registry
from mercer.inputs.base import Objects

_ANSWERS = {"predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "transform"}


def answers_lazily(cls: type, support: Callable[[Any], Objects]) -> None:
    """Make methods on new objects return lazy results for lazy input; `support` provides an object to try them on."""
    for name in _ANSWERS.intersection(vars(cls)):
        found = vars(cls)[name]
        if hasattr(found, "fn"):  # available only under some condition
            found.fn = _lazy_for_lazy(name, found.fn, support)
        else:
            setattr(cls, name, _lazy_for_lazy(name, found, support))


def _lazy_for_lazy(name: str, method: Callable[..., Any], support: Callable[[Any], Objects]) -> Callable[..., Any]:
    @functools.wraps(method)
    def answer(self: Any, X: Any, *given: Any, **options: Any) -> Any:
        if not type(X).__module__.startswith("dask") or given or options or not _registry.is_lazy(X):
            return method(self, X, *given, **options)
        check_is_fitted(self)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # support objects have no names of columns
            example = method(self, support(self).take(slice(0, 1)))
        return _registry.lazy_answer(self, name, X, example)

    return answer
