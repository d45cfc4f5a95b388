"""Encoders of categories, and imputers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import impute, preprocessing

from mercer.storage.pipelines.codec import Codec, Nested, Numbers, Plain, inner, require, set_inner
from mercer.training.storing import Field, Parts, ValueField


class _Type(Field):
    """The type of an array."""

    def write(self, name: str, value: Any, parts: Parts) -> None:
        parts.values[name] = np.dtype(value).str

    def read(self, name: str, parts: Parts) -> Any:
        found = np.dtype(parts.values.get(name, ""))  # refused if it is not a type
        require(found.kind in "fiubO" and found.itemsize <= 8, parts.estimator, f"{name!r} is not a type of columns")
        return found


def _categories(model: Any) -> None:
    """One sorted array of categories for each column."""
    found = model.categories_
    is_list = isinstance(found, list) and len(found) == model.n_features_in_
    require(is_list and all(isinstance(one, np.ndarray) and one.ndim == 1 for one in found), model, "its categories")
    require(all(len(one) and one.dtype.kind in "fiubUO" for one in found), model, "it has no categories")
    for one in found:
        plain = one.dtype.kind != "O" or all(item is None or isinstance(item, str | int | float) for item in one)
        require(plain, model, "its categories are neither numbers nor strings")
        items = [item for item in one.tolist() if item is not None and item == item]
        require(len(set(items)) == len(items) and len(one) - len(items) <= 2, model, "a category occurs twice")


def _grouped(model: Any, lengths: list[int]) -> None:
    """Positions of infrequent categories, from which scikit-learn's own mapping is rebuilt."""
    inner(model, "_check_infrequent_enabled")()
    groups = getattr(model, "_infrequent_indices", None)
    require((groups is not None) == bool(inner(model, "_infrequent_enabled")), model, "its groups of categories")
    if groups is None:
        return
    require(isinstance(groups, list) and len(groups) == len(lengths), model, "its groups of categories")
    mappings: list[Any] = []
    for group, n in zip(groups, lengths, strict=True):
        if group is None:
            mappings.append(None)
            continue
        right = isinstance(group, np.ndarray) and group.ndim == 1 and group.dtype.kind == "i" and 0 < len(group) <= n
        require(right and group[0] >= 0 and group[-1] < n and bool((np.diff(group) > 0).all()), model, "its groups")
        mapping = np.full(n, n - len(group), dtype=np.int64)
        mapping[np.setdiff1d(np.arange(n), group)] = np.arange(n - len(group))
        mappings.append(mapping)
    set_inner(model, _default_to_infrequent_mappings=mappings)


def _one_hot(model: Any) -> None:
    _categories(model)
    _grouped(model, [len(one) for one in model.categories_])
    inner(model, "_set_drop_idx")()
    set_inner(model, _n_features_outs=inner(model, "_compute_n_features_outs")())


def _ordinal(model: Any) -> None:
    _categories(model)
    missing = {
        column: place
        for column, categories in enumerate(model.categories_)
        for place, item in enumerate(categories.tolist())
        if isinstance(item, float) and item != item
    }
    set_inner(model, _missing_indices=missing)
    _grouped(model, [len(one) - (column in missing) for column, one in enumerate(model.categories_)])


def _imputer(model: Any) -> None:
    found = model.statistics_
    right = isinstance(found, np.ndarray) and found.shape == (model.n_features_in_,) and found.dtype.kind in "fiubOU"
    require(right, model, "its fill values are not a row")
    if found.dtype.kind == "O":
        plain = all(item is None or isinstance(item, str | int | float | np.generic) for item in found)
        require(plain, model, "its fill values are neither numbers nor strings")
    _indicator(model)


def _indicator(model: Any) -> None:
    has = getattr(model, "indicator_", None) is not None
    require(has == bool(model.add_indicator), model, "its indicator of missing values is missing")
    if has:
        require(model.indicator_.n_features_in_ == model.n_features_in_, model, "its indicator has other columns")


def _missing(model: Any) -> None:
    features = model.features_
    right = len(features) == 0 or (features[0] >= 0 and features[-1] < model.n_features_in_)
    require(right and bool((np.diff(features) > 0).all()), model, "its columns")
    set_inner(model, _n_features=model.n_features_in_)
    # Imputers pass the mask of missing values to `transform`, which otherwise finds it by itself.
    require(isinstance(inner(model, "_precomputed"), bool), model, "how it is used")


def _neighbours(model: Any) -> None:
    _indicator(model)
    known = inner(model, "_fit_X")
    require(len(known) > 0, model, "it has no objects")
    gaps = np.isnan(known) if _is_nan(model.missing_values) else known == model.missing_values
    set_inner(model, _mask_fit_X=gaps, _valid_mask=~np.all(gaps, axis=0))


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and value != value


def _by_target(model: Any) -> None:
    """A number for each category, and for each class if there are more than two."""
    _categories(model)
    inner(model, "_check_infrequent_enabled")()
    _targets(model)
    each = len(model.classes_) if model.target_type_ == "multiclass" else 1
    encodings = model.encodings_
    right = isinstance(encodings, list) and len(encodings) == each * model.n_features_in_
    require(right, model, "it has the wrong number of encodings")
    for place, numbers in enumerate(encodings):
        right = isinstance(numbers, np.ndarray) and numbers.shape == (len(model.categories_[place // each]),)
        require(right and numbers.dtype.kind == "f" and _finite(numbers), model, "its encodings")


def _targets(model: Any) -> None:
    """The kind of the targets, their classes, and their means."""
    kind, labels, means = model.target_type_, model.classes_, np.asarray(model.target_mean_)
    require(kind in ("binary", "multiclass", "continuous"), model, "its targets are of an unknown kind")
    require((labels is None) == (kind == "continuous"), model, "its classes")
    if labels is not None:
        plain = isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype.kind in "fiubUO"
        require(plain and all(isinstance(one, str | int | float) for one in labels.tolist()), model, "its classes")
        require((len(labels) > 2) == (kind == "multiclass"), model, "it has the wrong number of classes")
    shape = (len(labels),) if kind == "multiclass" else ()
    require(means.dtype.kind == "f" and means.shape == shape and _finite(means), model, "its means")


def _finite(numbers: Any) -> bool:
    return bool(np.isfinite(numbers).all())


_CATEGORIES = {"categories_": Plain(), "_infrequent_indices": Plain()}
"""The categories of each column that are grouped, if any."""

CODECS = (
    Codec(preprocessing.OneHotEncoder, _CATEGORIES, _one_hot, maybe="_infrequent_indices"),
    Codec(preprocessing.OrdinalEncoder, _CATEGORIES, _ordinal, maybe="_infrequent_indices"),
    Codec(
        preprocessing.TargetEncoder,
        {
            "categories_": Plain(),
            "target_type_": ValueField(str),
            "classes_": Plain(),
            "target_mean_": Plain(),
            "encodings_": Plain(),
        },
        _by_target,
    ),
    Codec(impute.MissingIndicator, {"features_": Numbers("indicated", kinds="i"), "_precomputed": Plain()}, _missing),
    Codec(
        impute.SimpleImputer,
        {
            "statistics_": Plain(),
            "indicator_": Nested(impute.MissingIndicator),
            "_fit_dtype": _Type(),
            "_fill_dtype": _Type(),
        },
        _imputer,
    ),
    Codec(
        impute.KNNImputer,
        {"_fit_X": Numbers("objects", "features", nan=True), "indicator_": Nested(impute.MissingIndicator)},
        _neighbours,
    ),
)
