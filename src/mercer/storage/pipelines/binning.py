"""Transformers that cut columns into bins, or expand them in splines."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import scipy.interpolate
from sklearn import preprocessing

from mercer.errors import ModelFileError
from mercer.storage.pipelines.codec import Codec, Plain, require, set_inner
from mercer.training.storing import Field, Parts

_MOST_SPLINES = 2000
"""The most splines of a column: scikit-learn keeps a square matrix of this size."""


@final
class _Edges(Field):
    """The edges of the bins of each column, as a list of arrays."""

    def write(self, name: str, value: Any, parts: Parts) -> None:
        Plain().write(name, list(value), parts)

    def read(self, name: str, parts: Parts) -> Any:
        edges = Plain().read(name, parts)
        right = isinstance(edges, list) and len(edges) == parts.sizes["features"]
        right = right and all(isinstance(one, np.ndarray) and one.ndim == 1 and one.dtype.kind == "f" for one in edges)
        require(right and all(len(one) > 1 for one in edges), parts.estimator, "its bins have no edges")
        require(all((np.diff(one) >= 0).all() for one in edges), parts.estimator, "its edges are not in order")
        found = np.empty(len(edges), dtype=object)
        found[:] = edges
        return found


def _bins(model: Any) -> None:
    """The number of bins and the encoder follow from the edges."""
    model.n_bins_ = np.array([len(edges) - 1 for edges in model.bin_edges_])
    if "onehot" in model.encode:
        encoder = preprocessing.OneHotEncoder(
            categories=[np.arange(number) for number in model.n_bins_],
            sparse_output=model.encode == "onehot",
            dtype=np.float64 if model.dtype is None else model.dtype,
        )
        set_inner(model, _encoder=encoder.fit(np.zeros((1, len(model.n_bins_)))))


@final
class _Knots(Field):
    """The knots of the splines, one column for each of the model; the splines follow from them."""

    def write(self, name: str, value: Any, parts: Parts) -> None:
        if value[0].c.shape[1] > _MOST_SPLINES:
            raise ModelFileError(f"model files hold at most {_MOST_SPLINES:,} splines for each column.")
        parts.arrays[name] = np.column_stack([spline.t for spline in value])

    def read(self, name: str, parts: Parts) -> Any:
        model, knots = parts.estimator, parts.array(name, "f", "knots", "features")
        require(bool(np.isfinite(knots).all()), model, "its knots are not finite")
        require(bool((np.diff(knots, axis=0) >= 0).all()), model, "its knots are not in order")
        given = model.n_knots if isinstance(model.knots, str) else len(model.knots)
        degree, periodic = model.degree, model.extrapolation == "periodic"
        require(given >= 2 and len(knots) == given + 2 * degree, model, "it has the wrong number of knots")
        splines = given - 1 if periodic else given + degree - 1
        require(splines <= _MOST_SPLINES, model, "it has too many splines")
        require(not periodic or degree < given, model, "its degree is too high")
        unit = np.eye(splines)
        unit = np.concatenate([unit, unit[:degree]]) if periodic else unit
        beyond = model.extrapolation in ("periodic", "continue")
        return [
            scipy.interpolate.BSpline.construct_fast(column, unit, degree, extrapolate=beyond)
            for column in np.ascontiguousarray(knots.T)
        ]


def _splines(model: Any) -> None:
    each = model.bsplines_[0].c.shape[1]
    model.n_features_out_ = model.n_features_in_ * (each if model.include_bias else each - 1)


CODECS = (
    Codec(preprocessing.KBinsDiscretizer, {"bin_edges_": _Edges()}, _bins),
    Codec(preprocessing.SplineTransformer, {"bsplines_": _Knots()}, _splines),
)
