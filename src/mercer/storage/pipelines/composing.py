"""Models that consist of other models: pipelines, unions, and transformers of columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import config_context
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.validation import check_is_fitted

from mercer._stored import Stored, checked_value
from mercer.errors import MissingExtraError, ModelFileError
from mercer.storage.pipelines.codec import Codec, inner, outputs_of, require

_KEPT = ("passthrough", "drop", None)
_DENSE = 100_000  # up to this many columns, a model is tried on a dense row of zeros; with more, on a sparse one


class _Identity(Codec):
    """The codec of a FunctionTransformer that passes columns unchanged; any function would be code."""

    def params(self, model: Any) -> dict[str, Any]:
        if model.func is not None or model.inverse_func is not None or callable(model.feature_names_out):
            raise ModelFileError(
                "A FunctionTransformer holds a Python function, and model files never hold code. Leave that step out "
                "of the pipeline and apply its function to the objects before, or pickle the pipeline yourself."
            )
        return super().params(model)


class _Pipeline(Codec):
    def params(self, model: Any) -> dict[str, Any]:
        return {**super().params(model), "memory": None, "steps": [tuple(step) for step in model.steps]}

    def bare(self, params: Mapping[str, Any]) -> Any:
        steps = named(params.get("steps"), 2, "steps")
        if params.get("memory") is not None:
            raise ModelFileError("a pipeline in a file keeps nothing in a folder.")
        model = super().bare({**params, "steps": steps})
        inner(model, "_validate_steps")()
        return model

    def take_apart(self, model: Any) -> Stored:
        _check_fitted(model.steps)
        return super().take_apart(model)

    def restore(self, model: Any) -> None:
        width: int | None = None
        _check_fitted(model.steps)
        for name, step in model.steps:
            if step in ("passthrough", None):
                continue
            wanted = getattr(step, "n_features_in_", None)
            require(None in (width, wanted) or width == wanted, model, f"step {name!r:.40} gets {width} columns")
            width = outputs_of(step)


class _Union(Codec):
    def params(self, model: Any) -> dict[str, Any]:
        return {**super().params(model), "transformer_list": [tuple(one) for one in model.transformer_list]}

    def bare(self, params: Mapping[str, Any]) -> Any:
        parts = named(params.get("transformer_list"), 2, "transformers")
        _check_weights(params)
        model = super().bare({**params, "transformer_list": parts})
        inner(model, "_validate_transformers")()
        return model

    def take_apart(self, model: Any) -> Stored:
        _check_fitted(model.transformer_list)
        return super().take_apart(model)

    def restore(self, model: Any) -> None:
        _check_fitted(model.transformer_list)


class _Columns(Codec):
    """The codec of a ColumnTransformer; of columns selected by a function, the result is stored."""

    def params(self, model: Any) -> dict[str, Any]:
        found = super().params(model)
        chosen = getattr(model, "_columns", [columns for *_, columns in model.transformers])
        found["transformers"] = [
            (name, part, _plain_columns(columns, getattr(model, "_transformer_to_input_indices", {}).get(name)))
            for (name, part, _), columns in zip(model.transformers, chosen, strict=True)
        ]
        return found

    def take_apart(self, model: Any) -> Stored:
        check_is_fitted(model)
        sizes = {name: part.stop - part.start for name, part in model.output_indices_.items()}
        fitted = [[name, part, sizes.get(name, 0)] for name, part, _ in model.transformers_]
        stored = super().take_apart(model)
        values = {**stored.values, "fitted": fitted, "sparse": bool(model.sparse_output_)}
        return Stored(stored.params, values, stored.arrays)

    def bare(self, params: Mapping[str, Any]) -> Any:
        parts = named(params.get("transformers"), 3, "transformers")
        if any(not isinstance(columns, str | int | list) for *_, columns in parts):
            raise ModelFileError("the columns of a ColumnTransformer must be names or numbers.")
        _check_weights(params)
        model = super().bare({**params, "transformers": parts})
        inner(model, "_validate_transformers")()
        return model

    def put_together(self, stored: Stored) -> Any:
        values = dict(stored.values)
        fitted = {name: (part, width) for name, part, width in named(values.pop("fitted", None), 3, "parts")}
        is_sparse = checked_value(values, "sparse", bool)
        del values["sparse"]
        model = super().put_together(Stored(stored.params, values, stored.arrays))
        for name, (part, width) in fitted.items():
            require(type(width) is int and 0 <= width < 2**31, model, "the columns that it makes")
            if not isinstance(part, str):
                check_is_fitted(part)
                made = outputs_of(part)
                require(made in (None, width), model, f"{name!r:.40} makes {made} columns, not {width}")
        rehearsed = _rehearsed(model, fitted)
        own = set(model.get_params(deep=False))
        vars(model).update({name: value for name, value in vars(rehearsed).items() if name not in own})
        require([name for name, *_ in model.transformers_] == list(fitted), model, "its parts have other names")
        model.transformers_ = [(name, fitted[name][0], columns) for name, _, columns in model.transformers_]
        for name, part, _ in model.transformers_:
            wanted = getattr(part, "n_features_in_", None)
            given = len(inner(model, "_transformer_to_input_indices")[name])
            require(wanted in (None, given), model, f"{name!r:.40} gets {given} columns, not {wanted}")
        model.sparse_output_ = is_sparse
        return model


def _check_fitted(parts: Any) -> None:
    """Raise NotFittedError unless every part is fitted."""
    for _, part in parts:
        if isinstance(part, Pipeline):  # a pipeline that ends in "passthrough" claims not to be fitted
            _check_fitted(part.steps)
        elif part is not None and not isinstance(part, str):
            check_is_fitted(part)


def named(node: Any, length: int, what: str) -> list[tuple[Any, ...]]:
    """Parts with different names, each a model or a word."""
    if not isinstance(node, list) or not all(isinstance(one, list | tuple) and len(one) == length for one in node):
        raise ModelFileError(f"its {what} are not a list of names and models.")
    names = [one[0] for one in node]
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise ModelFileError(f"two of its {what} have the same name.")
    for one in node:
        if not (isinstance(one[1], BaseEstimator) or one[1] in _KEPT):
            raise ModelFileError(f"{one[0]!r:.40}, one of its {what}, is {one[1]!r:.40}.")
    return [tuple(one) for one in node]


def _check_weights(params: Mapping[str, Any]) -> None:
    weights = params.get("transformer_weights")
    if weights is not None and not (
        isinstance(weights, dict) and all(isinstance(weight, int | float) for weight in weights.values())
    ):
        raise ModelFileError("the weights of its transformers are not numbers.")


def _plain_columns(columns: Any, places: Any) -> Any:
    """Columns as names or numbers."""
    if callable(columns) or isinstance(columns, slice):
        if places is None:
            raise ModelFileError("The columns of a ColumnTransformer are found by a function, which files do not hold.")
        return [int(place) for place in places]
    if isinstance(columns, str | int | np.integer):
        return columns
    if isinstance(columns, Sequence | np.ndarray) or hasattr(columns, "__iter__"):
        return [item.item() if isinstance(item, np.generic) else item for item in columns]
    raise ModelFileError(f"The columns {columns!r:.60} of a ColumnTransformer cannot be written to a file.")


class _OfWidth(TransformerMixin, BaseEstimator):
    """A stand-in that returns this many columns for any input."""

    def __init__(self, width: int = 1) -> None:
        self.width = width

    def fit(self, X: Any, y: Any = None) -> _OfWidth:
        return self

    def transform(self, X: Any) -> Any:
        rows = X.shape[0]
        return sp.csr_matrix((rows, self.width)) if self.width > _DENSE else np.zeros((rows, self.width))

    def __sklearn_is_fitted__(self) -> bool:
        return True


def _rehearsed(model: Any, fitted: Mapping[str, tuple[Any, Any]]) -> Any:
    """A ColumnTransformer fitted to a row of zeros with stand-ins for its parts, so that it assigns columns to them."""

    def stand_in(name: str, part: Any) -> Any:
        return part if isinstance(part, str) else _OfWidth(fitted[name][1] if name in fitted else 1)

    again = ColumnTransformer(
        [(name, stand_in(name, part), columns) for name, part, columns in model.transformers],
        remainder=stand_in("remainder", model.remainder),
    )
    n = model.n_features_in_
    row: Any = np.zeros((1, n)) if n <= _DENSE else sp.csr_matrix((1, n))
    if hasattr(model, "feature_names_in_"):
        row = _frame(model.feature_names_in_)
    with warnings.catch_warnings(), config_context(transform_output="default", enable_metadata_routing=False):
        warnings.simplefilter("ignore")
        return again.fit(row)


def _frame(names: Any) -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "The model transforms columns by their names, which needs pandas: pip install pandas."
        ) from error
    return pd.DataFrame(np.zeros((1, len(names))), columns=list(names))


CODECS = (
    _Identity(FunctionTransformer, stateless=True),
    _Pipeline(Pipeline, stateless=True),
    _Union(FeatureUnion, stateless=True),
    _Columns(ColumnTransformer),
)
