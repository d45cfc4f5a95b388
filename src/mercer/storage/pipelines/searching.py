"""Fitted searches: the best model, and the table of all settings tried."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.model_selection._search import _yield_masked_array_for_each_param
from sklearn.utils.validation import check_is_fitted

from mercer._stored import Stored, checked_value
from mercer.errors import ModelFileError
from mercer.selection.scoring import scorers_of
from mercer.selection.search import KernelSearchCV
from mercer.storage.pipelines.codec import Codec, Plain, inner, require, set_inner
from mercer.training.storing import Parts

_SPLITTERS = {
    kind.__name__: kind
    for kind in (
        model_selection.KFold,
        model_selection.StratifiedKFold,
        model_selection.GroupKFold,
        model_selection.StratifiedGroupKFold,
        model_selection.ShuffleSplit,
        model_selection.StratifiedShuffleSplit,
        model_selection.GroupShuffleSplit,
        model_selection.TimeSeriesSplit,
        model_selection.LeaveOneOut,
        model_selection.LeaveOneGroupOut,
    )
}
_OTHERWISE = "Save the trained model itself: mercer.save(search.best_estimator_, path)."
_NUMBERS = {"best_index_": int, "best_score_": float, "refit_time_": float, "n_splits_": int}


class _Search(Codec):
    def params(self, model: Any) -> dict[str, Any]:
        for name in ("scoring", "refit"):
            if callable(getattr(model, name)):
                raise ModelFileError(
                    f"The {name!r} of this KernelSearchCV is Python code, which model files never hold. {_OTHERWISE}"
                )
        return {**super().params(model), "cv": _splitter_node(model.cv)}

    def take_apart(self, model: Any) -> Stored:
        check_is_fitted(model, "cv_results_")
        values: dict[str, Any] = {"best_estimator_": getattr(model, "best_estimator_", None)}
        values |= {name: kind(getattr(model, name)) for name, kind in _NUMBERS.items() if hasattr(model, name)}
        values |= {name: bool(getattr(model, name)) for name in ("multimetric_", "complete_")}
        values["candidates"] = [dict(setting) for setting in model.cv_results_["params"]]
        parts = Parts()
        table = {name: column for name, column in model.cv_results_.items() if not name.startswith("param")}
        Plain().write("table", {name: np.asarray(column) for name, column in table.items()}, parts)
        return Stored(self.params(model), values, parts.arrays)

    def bare(self, params: Mapping[str, Any]) -> Any:
        model = super().bare({**params, "cv": _splitter(params.get("cv"))})
        require(hasattr(model.estimator, "get_params"), model, "it searches no estimator")
        return model

    def put_together(self, stored: Stored) -> Any:
        model = self.bare(stored.params)
        values = dict(stored.values)
        for name, kind in _NUMBERS.items():
            if name in values:
                setattr(model, name, checked_value(values, name, kind))
        for name in ("multimetric_", "complete_"):
            setattr(model, name, checked_value(values, name, bool))
        candidates = checked_value(values, "candidates", list)
        table = Plain().read("table", Parts(arrays=dict(stored.arrays)))
        _check_table(model, candidates, table)
        model.cv_results_ = {**table, **dict(_yield_masked_array_for_each_param(candidates)), "params": candidates}
        if hasattr(model, "best_index_"):
            require(0 <= model.best_index_ < len(candidates), model, "its best setting is not one of those tried")
            model.best_params_ = candidates[model.best_index_]
        best = values.get("best_estimator_")
        require((best is not None) == bool(model.refit), model, "its best model is missing")
        if best is not None:
            check_is_fitted(best)
            require(type(best) is type(model.estimator), model, "its best model is of another class")
            model.best_estimator_ = best
            if hasattr(best, "feature_names_in_"):
                model.feature_names_in_ = best.feature_names_in_
        model.scorer_ = scorers_of(inner(model, "_get_scorers")()[0])
        set_inner(model, _held_out=None)
        return model


def _check_table(model: Any, candidates: list[Any], table: Any) -> None:
    named = all(isinstance(one, dict) and all(isinstance(name, str) for name in one) for one in candidates)
    require(bool(candidates) and named, model, "its settings")
    right = isinstance(table, dict) and all(
        isinstance(name, str) and isinstance(column, np.ndarray) and column.shape == (len(candidates),)
        for name, column in table.items()
    )
    require(right and all(column.dtype.kind in "fi" for column in table.values()), model, "its table of results")


def _splitter_node(cv: Any) -> Any:
    """A splitter as its name and parameters; numbers and lists of splits as they are."""
    if cv is None or isinstance(cv, int | list | tuple):
        return cv
    name = type(cv).__name__
    if _SPLITTERS.get(name) is not type(cv):
        raise ModelFileError(f"The splitter {name} of this KernelSearchCV cannot be written to a file. {_OTHERWISE}")
    kept = {key: getattr(cv, key, None) for key in inspect.signature(type(cv)).parameters}
    if not isinstance(kept.get("random_state"), int | None):
        kept["random_state"] = None
    return {"splitter": name, **kept}


def _splitter(node: Any) -> Any:
    if not isinstance(node, dict):
        return node
    params = {key: value for key, value in node.items() if key != "splitter"}
    if node.get("splitter") not in _SPLITTERS or not all(isinstance(key, str) for key in params):
        raise ModelFileError(f"it asks for the splitter {node.get('splitter')!r:.60}, which files do not hold.")
    return _SPLITTERS[node["splitter"]](**params)


CODECS = (_Search(KernelSearchCV),)
