"""Scalers, transformations of columns, and projections."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn import decomposition, feature_selection, preprocessing

from mercer.storage.pipelines.codec import Codec, Counts, Nested, Numbers, Whole, inner, require
from mercer.training.storing import ValueField

_MOST_MONOMIALS = 10_000_000
"""The most columns of polynomial features: more would not fit into memory for a few hundred objects."""
_LARGEST_DEGREE = 100  # of a polynomial: higher powers overflow


def _standard(model: Any) -> None:
    require((model.scale_ is not None) == bool(model.with_std), model, "its scales are missing")
    require(model.mean_ is not None or not model.with_mean, model, "its means are missing")
    if model.scale_ is not None:
        require(model.var_ is not None, model, "its variances are missing")


def _robust(model: Any) -> None:
    require((model.center_ is not None) == bool(model.with_centering), model, "its medians are missing")
    require((model.scale_ is not None) == bool(model.with_scaling), model, "its scales are missing")


def _quantiles(model: Any) -> None:
    require(bool((np.diff(model.references_) >= 0).all()), model, "its levels are not in order")
    falling = np.diff(model.quantiles_, axis=0) < 0
    require(not falling.any() and model.n_quantiles_ == len(model.references_), model, "its quantiles are not in order")


def _power(model: Any) -> None:
    has = getattr(model, "_scaler", None) is not None
    require(has == bool(model.standardize), model, "its scaler is missing")
    if has:
        require(inner(model, "_scaler").n_features_in_ == model.n_features_in_, model, "its scaler has other columns")


def _polynomial(model: Any) -> None:
    """The number of columns follows from the degree, and is found by fitting a row of zeros."""
    high = model.degree if isinstance(model.degree, int) else max(model.degree)
    require(0 <= high <= _LARGEST_DEGREE, model, "its degree is out of range")
    require(max(model.n_features_in_, model.n_output_features_) <= _MOST_MONOMIALS, model, "it has too many columns")
    again = preprocessing.PolynomialFeatures(**model.get_params()).fit(np.zeros((1, model.n_features_in_)))
    require(again.n_output_features_ == model.n_output_features_, model, "it makes the wrong number of columns")
    for name in ("_min_degree", "_max_degree", "_n_out_full"):
        setattr(model, name, getattr(again, name))


def _components(model: Any) -> None:
    number = getattr(model, "n_components_", len(model.components_))
    require(number == len(model.components_), model, "it has the wrong number of components")


_COMPONENTS = {
    "components_": Numbers("components", "features"),
    "explained_variance_": Numbers("components"),
    "explained_variance_ratio_": Numbers("components", nan=True),
    "singular_values_": Numbers("components"),
}
_PRINCIPAL = {
    **_COMPONENTS,
    "mean_": Numbers("features"),
    "n_components_": Whole(),
    "noise_variance_": ValueField(float, lambda number: number >= 0 or math.isnan(number)),
}

CODECS = (
    Codec(
        preprocessing.StandardScaler,
        {
            "scale_": Numbers("features", above=0.0, none=True),
            "mean_": Numbers("features", none=True),
            "var_": Numbers("features", low=0.0, none=True),
            "n_samples_seen_": Counts(),
        },
        _standard,
    ),
    Codec(
        preprocessing.MinMaxScaler,
        {
            **{name: Numbers("features") for name in ("min_", "data_min_", "data_max_")},
            "scale_": Numbers("features", above=0.0),
            "data_range_": Numbers("features", low=0.0),
            "n_samples_seen_": Counts(),
        },
    ),
    Codec(
        preprocessing.MaxAbsScaler,
        {
            "scale_": Numbers("features", above=0.0),
            "max_abs_": Numbers("features", low=0.0),
            "n_samples_seen_": Counts(),
        },
    ),
    Codec(
        preprocessing.RobustScaler,
        {"center_": Numbers("features", none=True), "scale_": Numbers("features", above=0.0, none=True)},
        _robust,
    ),
    Codec(preprocessing.Normalizer, stateless=True),
    Codec(preprocessing.Binarizer, stateless=True),
    Codec(
        preprocessing.QuantileTransformer,
        {
            "quantiles_": Numbers("quantiles", "features", nan=True),
            "references_": Numbers("quantiles", low=0.0),
            "n_quantiles_": Whole(1),
        },
        _quantiles,
    ),
    Codec(
        preprocessing.PowerTransformer,
        {"lambdas_": Numbers("features", nan=True), "_scaler": Nested(preprocessing.StandardScaler)},
        _power,
        maybe="_scaler",
    ),
    Codec(preprocessing.PolynomialFeatures, {"n_output_features_": Whole(1)}, _polynomial),
    Codec(
        decomposition.PCA,
        {**_PRINCIPAL, "n_samples_": Whole(1), "_fit_svd_solver": ValueField(str)},
        _components,
    ),
    Codec(
        decomposition.IncrementalPCA,
        {**_PRINCIPAL, "var_": Numbers("features", low=0.0), "batch_size_": Whole(1), "n_samples_seen_": Counts()},
        _components,
    ),
    Codec(decomposition.TruncatedSVD, _COMPONENTS),
    Codec(feature_selection.VarianceThreshold, {"variances_": Numbers("features", low=0.0)}),
)
