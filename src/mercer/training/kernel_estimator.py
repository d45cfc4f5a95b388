"""The base of every estimator with a `kernel` parameter: it resolves the kernel, parses objects, and is stored."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Mapping
from numbers import Number
from typing import Any, ClassVar, Self, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mercer import _check, _deadline
from mercer._stored import Stored
from mercer._types import DType, Float64
from mercer.errors import InputError, KernelError
from mercer.gram.condensing import refuse_from_blocks
from mercer.gram.contract import Gram
from mercer.gram.effort import Effort
from mercer.gram.expansion import Expansion, weights_of_columns
from mercer.inputs.base import Objects
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.strings import Strings
from mercer.inputs.vectors import Vectors
from mercer.kernels.algebra.normalised import Normalised
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.memory import calls
from mercer.kernels.precomputed import Precomputed
from mercer.kernels.text.expression import parse
from mercer.kernels.user import FromBlocks
from mercer.kernels.vectors.linear import Linear, Sigmoid
from mercer.kernels.vectors.polynomial import Polynomial
from mercer.kernels.vectors.rbf import RBF
from mercer.kernels.vectors.stationary import ExponentialChi2, Laplacian
from mercer.kernels.weighing import weighing
from mercer.solvers.drive import Limits
from mercer.training.certificate import Certified
from mercer.training.choices import Gamma, Memory, Psd, default_shapes, nested_parameters
from mercer.training.full_kernel import EXACT_ROWS, Claim, Excess, excess_of, scored_on
from mercer.training.lazy_methods import answers_lazily
from mercer.training.matrix import Guarded, Repair, guard, products_gram
from mercer.training.storing import Field, read_fields, write_fields
from mercer.training.targets import check_features
from mercer.training.warm_start import WarmStart

DTYPES = ("auto", "float64")
"""float32 cannot be requested: "auto" uses it wherever that is safe."""

# scikit-learn's names that take its gamma, degree and coef0; any other text is an expression with its own parameters.
_SHAPED = ("linear", "poly", "polynomial", "rbf", "sigmoid", "laplacian", "chi2", "cosine", "precomputed")


class KernelEstimator(Certified, BaseEstimator):
    """Resolves `kernel` (a name, an expression, a function of two batches, or an object) and parses objects for it."""

    kernel: Any
    gamma: Gamma
    degree: int
    coef0: float
    memory: Memory
    time_limit: float | None
    psd: Psd
    kernel_: FittedKernel
    expansion_: Expansion
    _repair: Repair | None

    _fields: ClassVar[Mapping[str, Field]] = {}
    """The fitted attributes that model files hold."""
    _sharing: WarmStart | None = None
    """State that a search shares between its fits: see `share_fits`."""
    _dense_stays_dense: ClassVar[bool] = False
    """Whether sparse rows are refused after training on dense ones, as scikit-learn's machines of the same name do."""
    _weighs_kernel: ClassVar[bool] = True
    """Whether sample weights are used when the kernel estimates a parameter from the data."""
    _given: FittedKernel | None = None
    """An already fitted kernel to use for one fit: see `fit_with_kernel`."""
    _precision: ClassVar[DType | None] = None
    """The precision of the Gram matrix, if it does not depend on its size."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        answers_lazily(cls, lambda model: model.expansion_.support)

    def _check_parameters(self) -> None:
        """Refuse bad parameters."""

    def _gram_dtype(self) -> DType | None:
        asked = _check.choice(type(self).__name__, "dtype", getattr(self, "dtype", "auto"), DTYPES)
        return np.float64 if asked == "float64" else self._precision

    def _kernel(self, X: Any = None) -> Kernel:
        """The kernel as an object; `gamma`, `degree` and `coef0` apply to named kernels only.

        A plain function receives what X contains: rows of numbers, or a list of anything else.
        """
        if self._given is not None:
            return self._given.kernel
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
        owner = type(self).__name__
        if name not in _SHAPED:
            self._refuse_shapes_beside_objects()
            return parse(name)
        if name == "linear":
            return Linear()
        if name == "cosine":
            return Normalised(Linear())
        if name == "precomputed":
            return Precomputed()
        gamma: Any = self.gamma
        if gamma is None:  # as in scikit-learn: 1 / n_features, but 1 for chi2
            gamma = 1.0 if name == "chi2" else "auto"
        elif not isinstance(gamma, str):
            gamma = _check.real(owner, "gamma", gamma, low=0, low_open=True, high_open=True)
        if name == "rbf":
            return RBF(gamma=gamma)
        if name == "laplacian":
            return Laplacian(gamma=gamma)
        if name == "chi2":
            return ExponentialChi2(gamma=gamma)
        if name == "sigmoid":
            return Sigmoid(gamma=gamma, coef0=_check.real(owner, "coef0", self.coef0))
        degree = _check.integer(owner, "degree", self.degree, low=0)
        return Polynomial(degree=degree, gamma=gamma, coef0=_check.real(owner, "coef0", self.coef0, low=0))

    def _refuse_shapes_beside_objects(self) -> None:
        owner = type(self).__name__
        for name, default in default_shapes(cast(Any, type(self))).items():
            if getattr(self, name) != default:
                rule = f"left at its default ({default!r}) when kernel is an object, which has its own parameters"
                remedy = f"Set it in the kernel, or search over kernel__{name}."
                raise _check.fail(owner, name, rule, getattr(self, name), remedy)

    def _fit_kernel(self, kernel: Kernel, objects: Objects, weights: Float64 | None = None) -> FittedKernel:
        """The kernel fitted to the weighted objects, unless a fitted one was given."""
        if self._given is not None:
            return self._given
        if weights is None or not self._weighs_kernel:
            return kernel.fit(objects)
        with weighing(weights):
            return kernel.fit(objects)

    def _require_fit(self) -> None:
        """Refuse to predict before training."""
        if "kernel_" not in vars(self):
            check_is_fitted(self)  # which asks for tags, and so for the kernel

    def _new_objects(self, X: Any) -> Objects:
        """Objects to predict for, once the estimator is fitted."""
        self._require_fit()
        objects = self.kernel_.coerce(X)
        self._check_features(X, objects, reset=False)
        if self._dense_stays_dense and isinstance(objects, Vectors) and objects.is_sparse:
            support = self.expansion_.support
            if isinstance(support, Vectors) and not support.is_sparse:
                name = type(self).__name__
                raise InputError(
                    f"cannot use sparse input in {name!r} trained on dense data. Pass X.toarray(), or train on "
                    "sparse rows."
                )
        return objects

    def _outputs(self, X: Any) -> Float64:
        """The values of the expansion for new objects, one column per output."""
        objects = self._new_objects(X)  # first, because it checks that the estimator is fitted
        return self.expansion_(objects, self._gram_dtype())

    def _machine_and_objects(self, X: Any) -> tuple[Expansion, Objects, Any]:
        """What explanations need: the machine, the new objects, and the names of columns."""
        objects = self._new_objects(X)
        return self._decision_expansion(), objects, getattr(self, "feature_names_in_", None)

    def _decision_expansion(self) -> Expansion:
        """The expansion whose values `decision_function` or `predict` returns."""
        return self.expansion_

    def _check_features(self, X: Any, objects: Objects, *, reset: bool) -> None:
        check_features(self, X, objects, reset=reset)

    def _effort(self) -> tuple[float, float]:
        """The expected number of products with the n x n matrix, and the cost of its decompositions in flops / n^3."""
        return 1.0, 0.0

    def _stored_gram(self, X: Any) -> tuple[FittedKernel, Objects, Guarded]:
        """The fitted kernel, the objects and their Gram matrix, stored if it fits; for learners that need all of it."""
        fitted, objects, gram = self._gram_for_products(X)
        return fitted, objects, self._guarded(fitted, gram)

    def _gram_for_products(self, X: Any, *, at_least: int = 2) -> tuple[FittedKernel, Objects, Gram]:
        """The fitted kernel, the objects and their Gram matrix, of which nothing was computed yet."""
        kernel = self._kernel(X)
        objects = kernel.coerce(X)
        if len(objects) < at_least:
            found = f"Found array with {len(objects)} sample(s)"
            raise InputError(f"{found}, while a minimum of {at_least} is required by {type(self).__name__}.")
        self._check_features(X, objects, reset=True)
        fitted = kernel.fit(objects)
        effort = Effort(type(self).__name__, *self._effort())
        return fitted, objects, products_gram(fitted, objects, self.memory, effort)

    def _guarded(self, fitted: FittedKernel, gram: Gram) -> Guarded:
        """The matrix for training, stored if it fits, checked and repaired."""
        stored = gram if gram.factor is not None else gram.stored_if_it_fits()
        return guard(type(self).__name__, fitted.kernel, stored, self.psd)

    def _all_or_nothing(self) -> contextlib.AbstractContextManager[None]:
        return all_or_nothing(self)

    def _linear_weights(self, sign: float = 1.0) -> Any:
        """Weights of the features of support objects, for the linear kernel only; read-only."""
        if self.kernel != "linear" and not getattr(self.kernel, "is_linear", False):
            raise AttributeError("coef_ is only available when using a linear kernel")
        check_is_fitted(self)
        return weights_of_columns(self.expansion_, sign)

    def excess(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        held_out: tuple[Any, Any] | None = None,
        exact_rows: int = EXACT_ROWS,
    ) -> Excess:
        """For `Nystrom` kernels: a bound on how far the objective is above that of the exact machine.

        It is computed from the training data in one pass over the full matrix or, for more than `exact_rows` objects,
        from a sample of its rows. With `held_out`, objects and targets that were not used in training, it also has the
        score of the machine on them. Printed, it is a sentence.
        """
        check_is_fitted(self)
        scored = {} if held_out is None else scored_on(self, *held_out)
        exact_rows = _check.integer(type(self).__name__, "exact_rows", exact_rows, low=0)
        objects = self.kernel_.kernel.coerce(X)
        machine, support = self.expansion_, getattr(self, "support_", slice(None))
        from_blocks = isinstance(support, slice) and len(machine.support) != len(objects)
        refuse_from_blocks(-1 if from_blocks else 0 if isinstance(support, slice) else support, "The excess")
        coefficients = np.zeros((len(objects), machine.coefficients.shape[1]))
        coefficients[support] = machine.coefficients
        return dataclasses.replace(self._excess(coefficients, objects, y, sample_weight, exact_rows), **scored)

    def _excess(self, coefficients: Float64, objects: Objects, y: Any, sample_weight: Any, exact_rows: int) -> Excess:
        """The bound, from dual coefficients of all training objects."""
        claims = self._claims(objects, y, sample_weight)
        return excess_of(self.expansion_, coefficients, claims, objects, exact_rows)

    def _claims(self, objects: Objects, y: Any, sample_weight: Any) -> list[Claim]:
        """The problems that the machines solve on the training objects."""
        raise KernelError(f"{type(self).__name__} has no bound on how far it is from the exact machine.")

    def _limits(self) -> Limits:
        """`max_iter`, the rest of `time_limit`, and any limits set by a search."""
        stop = None if self._sharing is None else self._sharing.stop_of_one_fit()
        return limits_of(self, stop)

    # ---------------------------------------------------------------------------------------------------- model files

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        return write_fields(self, self._fields)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        model = cls(**stored.params)
        model._check_parameters()
        read_fields(model, cls._fields, stored)
        model._restored()
        return model

    def _restored(self) -> None:
        """Set attributes that follow from the fields just read; raise ModelFileError if these are inconsistent."""

    # --------------------------------------------------------------------------------------------------- scikit-learn

    def set_params(self, **params: Any) -> Self:
        """Set parameters; kernels are immutable, so ``kernel__gamma=0.1`` replaces the kernel."""
        nested, plain = nested_parameters(self, params)
        super().set_params(**plain)
        for head, changes in nested.items():
            setattr(self, head, getattr(self, head).with_params(**changes))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            kernel = self._kernel()
        except ValueError:  # fit reports bad parameters
            return tags
        kind = kernel.domain
        tags.input_tags.pairwise = kernel.is_precomputed
        tags.input_tags.sparse = kind is Vectors
        if kind not in (Vectors, GramRows):
            tags.input_tags.one_d_array = True
            tags.input_tags.two_d_array = False
            tags.input_tags.string = kind is Strings
        return tags


@contextlib.contextmanager
def all_or_nothing(estimator: Any) -> Iterator[None]:
    """Train within the time limit; after an error or an interrupt, leave the estimator as it was."""
    before = dict(estimator.__dict__)
    try:
        with _calling_once(estimator), _in_time(estimator):
            yield
    except BaseException:
        estimator.__dict__.clear()
        estimator.__dict__.update(before)
        raise


def limits_of(estimator: Any, stop: threading.Event | None = None) -> Limits:
    """`max_iter`, if the estimator has it, and the rest of its time."""
    owner = type(estimator).__name__
    max_iter = _check.integer(owner, "max_iter", estimator.max_iter, low=-1) if hasattr(estimator, "max_iter") else -1
    return Limits(max_iter, stop=stop or threading.Event())


def _in_time(estimator: Any) -> contextlib.AbstractContextManager[None]:
    """Limit all work inside the context to the `time_limit` of an estimator."""
    limit = estimator.time_limit
    if limit is None:
        return contextlib.nullcontext()
    return _deadline.limited(_check.real(type(estimator).__name__, "time_limit", limit, low=0, low_open=True))


def _calling_once(estimator: Any) -> contextlib.AbstractContextManager[None]:
    """Call users' functions once for each pair where a kernel is fitted to the values that training needs again.

    Other kernels need each value once anyway, and looking it up would cost them time.
    """
    kernel = getattr(estimator, "kernel", None)
    return calls.once() if isinstance(kernel, Kernel) and kernel.data_dependent else contextlib.nullcontext()


def resolved_kernel(estimator: KernelEstimator, X: Any = None) -> Kernel:
    """The kernel that an estimator would be fitted with; raises ParameterError for bad parameters."""
    return estimator._kernel(X)


def known_objects(estimator: KernelEstimator, X: Any) -> Objects:
    """Parse training objects as the estimator does, and make their features known to it."""
    objects = estimator._kernel(X).coerce(X)
    estimator._check_features(X, objects, reset=True)
    return objects


def has_expansion(estimator: Any) -> bool:
    """Whether a fitted estimator of this kind is an expansion over training objects."""
    return isinstance(estimator, KernelEstimator) and "expansion_" in estimator._fields


def fit_with_kernel(estimator: KernelEstimator, fitted: FittedKernel, *training: Any, **weights: Any) -> Any:
    """Fit an estimator with a kernel that was fitted to other objects, possibly including these."""
    estimator._given = fitted
    try:
        return estimator.fit(*training, **weights)
    finally:
        estimator._given = None


def decision_expansion(estimator: Any) -> Expansion:
    """The expansion whose values `decision_function` or `predict` of a fitted estimator returns."""
    found: Expansion = estimator.expansion_
    return estimator._decision_expansion() if isinstance(estimator, KernelEstimator) else found


def weights_of_kernel(estimator: Any, weights: Any) -> Any:
    """The weights of objects, if an estimator lets them count in its kernel; otherwise None."""
    return weights if getattr(estimator, "_weighs_kernel", True) else None


def share_fits(estimator: Any, sharing: WarmStart) -> None:
    """Let an estimator start where the last fit on the same objects ended, and stop when `sharing` says so."""
    if isinstance(estimator, KernelEstimator):
        estimator._sharing = sharing


def gram_precision(estimator: Any) -> DType | None:
    """The precision that an estimator needs for its Gram matrix, if it does not depend on the size."""
    return estimator._gram_dtype() if isinstance(estimator, KernelEstimator) else None


def _holds_objects(X: Any) -> bool:
    """Whether X is a list of things other than rows of numbers: strings, sets, graphs."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    return isinstance(X, list | tuple) and len(X) > 0 and not isinstance(X[0], list | tuple | np.ndarray | Number)
