"""What every estimator with a `kernel` parameter shares: strings become kernels, anything becomes objects."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from numbers import Number
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from mercer import _check
from mercer._record import Record
from mercer._stored import checked_array, checked_value
from mercer._types import DType
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.text.expression import parse
from mercer.kernels.user import FromBlocks
from mercer.training.warm_start import WarmStart

KernelLike = str | Kernel | Callable[[Any, Any], Any]

# scikit-learn's names that take its gamma, degree and coef0; any other text is an expression with its own parameters.
_SHAPED = ("linear", "poly", "rbf", "sigmoid", "precomputed")


class Kernelised(BaseEstimator):
    """Resolves `kernel` (a name, an expression, a function of two batches, or an object) and parses objects for it."""

    kernel: Any
    gamma: float | str
    degree: int
    coef0: float
    dual: bool | str = True
    """Whether to train on the Gram matrix or on features; those with a choice have a parameter of this name."""

    _sided: ClassVar[bool] = False
    """Whether coefficients of either side of zero keep their sum, as in the nu-forms: see `solvers.sided_newton`."""
    _sharing: WarmStart | None = None
    """What a search shares between its fits; nobody else sets it."""
    _precision: ClassVar[DType | None] = None
    """The precision of the Gram matrix, where it does not depend on its size."""

    def _kernel(self, X: Any = None) -> Kernel:
        """The kernel as an object; `gamma`, `degree` and `coef0` shape named kernels and nothing else.

        A bare function is given what X holds: rows of numbers, or a list of anything else.
        """
        if isinstance(self.kernel, str):
            return self._named_kernel(self.kernel)
        self._refuse_shapes_beside_objects()
        if isinstance(self.kernel, Kernel):
            return self.kernel
        if not callable(self.kernel):
            rule = "a name, a kernel object, or a function of two batches"
            raise _check.fail(type(self).__name__, "kernel", rule, self.kernel)
        return FromBlocks(self.kernel, objects="items" if _holds_objects(X) else "vectors")

    def _named_kernel(self, name: str) -> Kernel:
        from mercer.kernels.vectors.linear import Linear
        from mercer.kernels.vectors.polynomial import Polynomial
        from mercer.kernels.vectors.rbf import RBF
        from mercer.kernels.vectors.sigmoid import Sigmoid

        owner = type(self).__name__
        if name not in _SHAPED:
            self._refuse_shapes_beside_objects()
            return parse(name)
        if name == "linear":
            return Linear()
        if name == "precomputed":
            return Precomputed()
        gamma = self.gamma
        if not isinstance(gamma, str):
            gamma = _check.real(owner, "gamma", gamma, low=0, low_open=True, high_open=True)
        if name == "rbf":
            return RBF(gamma=gamma)
        if name == "sigmoid":
            return Sigmoid(gamma=gamma, coef0=_check.real(owner, "coef0", self.coef0))
        degree = _check.integer(owner, "degree", self.degree, low=0)
        return Polynomial(degree=degree, gamma=gamma, coef0=_check.real(owner, "coef0", self.coef0, low=0))

    def _refuse_shapes_beside_objects(self) -> None:
        owner = type(self).__name__
        for name in ("gamma", "degree", "coef0"):
            default = inspect.signature(type(self)).parameters[name].default
            if getattr(self, name) != default:
                rule = f"left at its default ({default!r}) beside a kernel object, which has its own parameters"
                remedy = f"Set it in the kernel, or search over kernel__{name}."
                raise _check.fail(owner, name, rule, getattr(self, name), remedy)

    def _new_objects(self, X: Any, fitted: FittedKernel) -> Objects:
        objects = fitted.coerce(X)
        self._check_features(X, objects, reset=False)
        return objects

    def _check_features(self, X: Any, objects: Objects, *, reset: bool) -> None:
        if isinstance(objects, Vectors):
            named = X if hasattr(X, "columns") else objects.values
            validate_data(self, named, reset=reset, skip_check_array=True)
        elif isinstance(objects, GramRows) and objects.matrix is not None:
            validate_data(self, objects.matrix, reset=reset, skip_check_array=True)

    @contextlib.contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """Leave the estimator as it was if training ends in an error or an interrupt."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _seen_features(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """What scikit-learn noted about the training features, as values and arrays of a model file."""
        names = ("n_features_in_", "feature_names_in_")
        values, arrays = ({name: getattr(self, name)} if hasattr(self, name) else {} for name in names)
        return values, arrays

    def _restore_seen_features(self, values: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
        if "n_features_in_" not in values:
            return
        self.n_features_in_ = checked_value(values, "n_features_in_", int)
        if "feature_names_in_" in arrays:
            self.feature_names_in_ = checked_array(arrays, "feature_names_in_", "O", (self.n_features_in_,))

    def set_params(self, **params: Any) -> Self:
        """Set parameters; kernels are immutable, so ``kernel__gamma=0.1`` replaces the kernel."""
        nested: dict[str, dict[str, Any]] = {}
        plain: dict[str, Any] = {}
        for path, value in params.items():
            head, _, rest = path.partition("__")
            target = params.get(head, getattr(self, head, None))
            if rest and isinstance(target, Record):
                nested.setdefault(head, {})[rest] = value
            else:
                plain[path] = value
        super().set_params(**plain)
        for head, changes in nested.items():
            setattr(self, head, getattr(self, head).with_params(**changes))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel: Kernel | None = self._kernel()
        except ValueError:  # bad parameters are answered by fit
            kernel = None
        if kernel is None:
            return tags
        kind = kernel.domain
        tags.input_tags.pairwise = kernel.is_precomputed
        tags.input_tags.sparse = kind in (Vectors, GramRows)
        if kind not in (Vectors, GramRows):
            tags.input_tags.one_d_array = True
            tags.input_tags.two_d_array = False
            tags.input_tags.string = kind is Strings
        return tags


def kernel_of(estimator: Kernelised, X: Any) -> Kernel | None:
    """The kernel that an estimator would be fitted with on X; None if it is invalid, which `fit` reports."""
    try:
        return estimator._kernel(X)
    except ValueError:
        return None


def precision_of(estimator: Any) -> DType | None:
    """The precision that an estimator asks for, whatever the size of its Gram matrix; usually None."""
    return estimator._precision if isinstance(estimator, Kernelised) else None


def share(estimator: Any, sharing: WarmStart) -> None:
    """Let an estimator share its solutions with others, and stop when they do."""
    if isinstance(estimator, Kernelised):
        estimator._sharing = sharing


def _holds_objects(X: Any) -> bool:
    """Whether X is a list of things other than rows of numbers: strings, sets, graphs."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    return isinstance(X, list | tuple) and len(X) > 0 and not isinstance(X[0], list | tuple | np.ndarray | Number)
