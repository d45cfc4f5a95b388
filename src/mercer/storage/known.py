"""The classes in model files: Mercer's own models, and parts of scikit-learn's pipelines that have a codec."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mercer._registry import MODELS
from mercer._stored import Storable, Stored, from_stored, to_stored
from mercer.errors import ModelFileError, UnfittedError
from mercer.storage.format import shown

if TYPE_CHECKING:
    from mercer.storage.pipelines.codec import Codec

_HOMES = ("scaling", "binning", "encoding", "texts", "composing", "searching")


@functools.cache
def codecs() -> Mapping[str, Codec]:
    """The codecs of scikit-learn's classes, and of `KernelSearchCV`, by name."""
    homes = (importlib.import_module(f"mercer.storage.pipelines.{home}") for home in _HOMES)
    return {codec.kind.__name__: codec for home in homes for codec in home.CODECS}


def is_known(name: Any) -> bool:
    """Whether a file may name this class."""
    return isinstance(name, str) and (name in MODELS or name in codecs())


def check_known(name: Any) -> None:
    """Refuse any class but these."""
    if not is_known(name):
        raise ModelFileError(
            f"it asks for the estimator {shown(name)}, which this version of mercer does not have. Was it written by a "
            "newer one?"
        )


def is_model(value: Any) -> bool:
    """Whether a value is an estimator, of whatever class."""
    return not isinstance(value, type) and hasattr(value, "get_params") and hasattr(value, "fit")


def stored_of(model: Any) -> Stored:
    """The parts of a fitted model; raises UnfittedError before `fit`."""
    from sklearn.exceptions import NotFittedError

    name = type(model).__name__
    codec = _codec_of(model)
    if codec is None and not isinstance(model, Storable):
        raise ModelFileError(
            f"Cannot save a {name}: this estimator has no form in model files yet. Pickle it yourself."
        )
    try:
        return to_stored(model) if codec is None else codec.take_apart(model)
    except NotFittedError as error:
        raise UnfittedError(f"Cannot save this {name}: it is not fitted yet. Call fit first.") from error


def params_of(model: Any) -> Mapping[str, Any]:
    """The parameters of a model that need not be fitted."""
    codec = _codec_of(model)
    found: Mapping[str, Any] = model.get_params(deep=False) if codec is None else codec.params(model)
    return found


def put_together(name: str, stored: Stored) -> Any:
    """A fitted model of a known class."""
    if name in MODELS:
        kind: type[Storable] = MODELS[name].load()
        return from_stored(kind, stored)
    return codecs()[name].put_together(stored)


def bare(name: str, params: Mapping[str, Any]) -> Any:
    """A model of a known class that is not fitted."""
    return MODELS[name].load()(**params) if name in MODELS else codecs()[name].bare(params)


def _codec_of(model: Any) -> Codec | None:
    """The codec of a model; None for Mercer's own models, which need none. Refuses other classes without a codec."""
    name = type(model).__name__
    if name in MODELS and MODELS[name].load() is type(model):
        return None
    codec = codecs().get(name)
    if codec is None or codec.kind is not type(model):
        raise ModelFileError(
            f"Cannot save a {name}: model files hold Mercer's own estimators, KernelSearchCV, and pipelines of these "
            f"parts of scikit-learn: {', '.join(sorted(set(codecs()) - {'KernelSearchCV'}))}. Save the estimator "
            "at the end of it, or pickle the whole yourself."
        )
    return codec
