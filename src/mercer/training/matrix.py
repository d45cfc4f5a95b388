"""The Gram matrix for training, from kernel values or features: checked, and repaired if it is indefinite."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.linalg

from mercer import _check, _deadline, _speed
from mercer._process import decomposing
from mercer._types import DType, Float64
from mercer.errors import KernelError, KernelWarning, MemoryBudgetError, TimeLimitError
from mercer.gram import budget, cost, known
from mercer.gram.block_rows import BlockRows, rows_of_features
from mercer.gram.centring import Centred
from mercer.gram.condensing import machine_over, read_whole, refuse_from_blocks, streams
from mercer.gram.contract import Gram
from mercer.gram.definiteness import lowest_value, refuse_wrong_word
from mercer.gram.effort import Effort
from mercer.gram.expansion import Expansion
from mercer.gram.make import DOUBLE_ENTRIES, gram_of, gram_of_rows, gram_of_values
from mercer.gram.spectrum import negligible
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors, numbers_of, squared_lengths
from mercer.kernels.base import FittedKernel, Kernel
from mercer.kernels.features.space import entries_per_object, features_of
from mercer.losses.base import Loss
from mercer.solvers.box.smo import DENSE
from mercer.solvers.ridge import normal_equations
from mercer.training.on_features import cheaper, form_of, solvable

_BYTES_PER_ENTRY = 24
"""Memory for one entry of sparse rows: the value, its column, and a copy of both."""
REPAIRS = ("clip", "flip", "shift")
MODES = ("warn", "error", "ignore", *REPAIRS)

_ROUNDED = 1e-12
"""A column that varies by less than this fraction of its mean is constant, but for rounding."""
_SCALES = 1e5
"""Warn if standard deviations of features differ by more than this factor: the narrow one then makes up some 1e-10 of
squared distances, which no tolerance resolves. A smaller factor would also warn of years beside pounds."""
_SCALED_OBJECTS = 4000
"""Number of objects sampled from blocks to estimate the scales of columns: a warning needs only one digit."""
_SAMPLED_OBJECTS = 1000
"""The same for objects in blocks: how many objects are compared."""
_SAMPLED_ROWS = 32
"""Rows of the Gram matrix that are examined to detect a constant one: more cost more; fewer could all belong to similar
objects and cause a false warning."""

_REMEDY = (
    "Train on fewer objects or on landmarks, kernels.Nystrom(kernel, 1000); or keep values on disk, so that nothing is "
    "computed twice: kernels.Remembered(kernel, folder)."
)
"""What to do about expensive kernels on many objects."""


@final
@dataclass(frozen=True, eq=False)
class GramSettings:
    """What an estimator requires of the matrix that it is trained on."""

    owner: str
    """The name of the estimator, for messages."""
    dual: bool | str
    """Whether to train on kernel values (True), on features (False), or on whichever is cheaper ("auto")."""
    memory: budget.Memory
    psd: str
    """What to do about negative eigenvalues: one of `MODES`."""
    dtype: DType | None = None
    """The precision of kernel values, if it does not depend on the number of objects."""
    nu_form: bool = False
    """Whether the positive and the negative coefficients each have a fixed sum, as in the nu forms, which gain from
    features sooner."""
    groups: int = 2
    """The number of classes, if there is one machine per pair of classes."""


@final
@dataclass(frozen=True, eq=False)
class Guarded:
    """The Gram matrix to train on, and how to convert its coefficients to those of the original kernel.

    With K = V S V', ``clip`` trains on V max(S, 0) V', ``flip`` on V |S| V', ``shift`` on K - min(S) I. Coefficients b
    on V f(S) V' predict the same as V f(S)/S V' b with K itself: exactly for training objects, and by the same rule for
    new ones. So prediction uses the original kernel over all training objects. A shift only changes the similarity of
    an object with itself, which does not matter for new objects.
    """

    gram: Gram
    original: Gram
    """The matrix of the original kernel."""
    vectors: Float64 | None = None
    factors: Float64 | None = None
    """f(S) / S, and zero where S is zero."""
    shift: float = 0.0

    @property
    def repaired(self) -> bool:
        return self.vectors is not None or self.shift != 0.0

    def in_double(self, fitted: FittedKernel, objects: Objects) -> Callable[[], Gram]:
        """A function that returns the training matrix in float64 later, without holding much memory until then.

        A small matrix, expensive entries and rows of features are kept; other entries are computed again.
        """
        gram, memory = self.gram, self.gram.setting.memory
        few = gram.shape[0] ** 2 <= DOUBLE_ENTRIES
        if self.repaired or gram.factor is not None or (gram.dtype is np.float64 and (few or gram.expensive)):
            return lambda: gram
        return lambda: gram_of(fitted, objects, dtype=np.float64, memory=memory).stored_if_it_fits()

    def expanded(self, coefficients: Float64) -> Float64:
        """Coefficients of the original kernel, one row per training object."""
        if self.vectors is None or self.factors is None:
            return coefficients
        return np.asarray(self.vectors @ (self.factors[:, None] * (self.vectors.T @ coefficients)))

    def centred(self, fitted: FittedKernel, objects: Objects, centre: Centred, a: Float64) -> Expansion:
        """x -> k_c(x, .) a for each column of a, with k_c the centred kernel of the training matrix."""
        found = centre.expansion(fitted, objects, a)
        return machine_over(fitted, objects, slice(None), self.expanded(found.coefficients), found.intercept)[0]

    def repair(self, coefficients: Float64) -> Repair | None:
        """What certificates need, from the coefficients of support objects; None if nothing was repaired."""
        return Repair(coefficients, self.shift) if self.repaired else None


@final
@dataclass(frozen=True, eq=False)
class Repair:
    """What a certificate needs of a repaired matrix: the coefficients of support objects on it, and the shift."""

    dual: Float64
    shift: float


@final
@dataclass(frozen=True, eq=False)
class Recomputed:
    """Coefficients of all training objects, their products with the training matrix, and the cost of computing them."""

    coefficients: Float64
    outputs: Float64
    entries: int
    diagonal: Float64 | None = None
    """k(x, x) of the objects in the training matrix."""

    @classmethod
    def of(cls, expansion: Expansion, repair: Repair | None, support: Any, objects: Objects) -> Recomputed:
        """Recompute from the training objects and the expansion, whose support objects are those at `support`.

        The training objects are treated as new ones, which takes another path through the code than training did.
        """
        refuse_from_blocks(0 if isinstance(support, slice) else support, "Recomputing a certificate")
        gram = gram_of(expansion.kernel, objects, expansion.support, dtype=np.float64)
        outputs = gram.matvec(expansion.coefficients)
        coefficients = np.zeros(outputs.shape)
        coefficients[support] = expansion.coefficients if repair is None else repair.dual
        if repair is not None:
            outputs = outputs + repair.shift * coefficients
        fitted, shift = expansion.kernel, 0.0 if repair is None else repair.shift
        diagonal = fitted.diagonal(fitted.features(objects)) + shift
        return cls(coefficients, outputs, gram.entries_computed, diagonal)


def guarded_gram(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> Guarded:
    """The Gram matrix for training with these losses; warns if little can be learnt from it."""
    warn_of_scales(objects.first_known(_SCALED_OBJECTS) if isinstance(objects, Streamed) else objects.known())
    gram = training_gram(settings, fitted, objects, losses)

    def worth() -> float:
        return cost.of_matrix(form_of(losses, nu_form=settings.nu_form), len(objects), 0.0, len(objects))

    guarded = guard(settings.owner, fitted.kernel, gram, settings.psd, worth)
    # Checking rows of the matrix would read everything once more.
    if isinstance(objects, Streamed) and streams(fitted, objects):
        warn_if_constant(gram_of(fitted, objects.first_known(_SAMPLED_OBJECTS)))
    else:
        warn_if_constant(guarded.gram)
    return guarded


def training_gram(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> Gram:
    """The Gram matrix to train on: from rows of features if that is requested or cheaper, else from kernel values."""
    dual, memory = settings.dual, settings.memory
    _check_dual(settings.owner, dual, fitted)
    if isinstance(objects, Streamed):
        if streams(fitted, objects):
            return _gram_in_blocks(settings, fitted, objects, losses)
        objects = read_whole(objects, memory)
    primal = dual != "auto" and not dual
    if by_features(settings, fitted, objects, losses):
        form = form_of(losses, nu_form=settings.nu_form)
        rows = rows_of_features(fitted, objects, memory)
        fitted.in_range(squared_lengths(rows))
        sure = primal or _beyond(len(objects), memory)
        if sure or cheaper(form, rows, numbers_of(objects), write=_found(fitted), groups=settings.groups):
            return gram_of_rows(rows, memory=memory)
    gram = gram_of(fitted, objects, dtype=settings.dtype, memory=memory)
    if gram.expensive:
        Effort(settings.owner, remedy=_REMEDY).announce(gram)
    if gram.expensive and len(objects) <= DENSE:  # all of it will be needed, and more than once
        kept = gram.stored_if_it_fits()
        known.note(fitted, objects, kept)
        return kept
    return gram


def by_features(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> bool:
    """Whether features are requested, or may cost less than a matrix."""
    dual = settings.dual
    _check_dual(settings.owner, dual, fitted)
    wanted = (dual != "auto" and not dual) or (dual == "auto" and _worthwhile(settings, fitted, objects, losses))
    return wanted and not _by_matrix(fitted, objects, losses)


def _gram_in_blocks(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> Gram:
    """The matrix of objects that are never all in memory: only features are possible."""
    if not all(solvable(loss) for loss in losses):
        raise KernelError(
            f"{settings.owner} cannot be trained from blocks: {losses[0]!r} has no solver on features. Train it on "
            "objects in memory."
        )
    rows = rows_of_features(fitted, objects, settings.memory)
    fitted.in_range(squared_lengths(rows))
    return gram_of_rows(rows, memory=settings.memory)


def products_gram(fitted: FittedKernel, objects: Objects, memory: budget.Memory, effort: Effort) -> Gram:
    """The Gram matrix for products with it: through features if these cost less; else to be stored if it fits."""
    n, features = len(objects), fitted.feature_map()
    if isinstance(objects, Streamed):
        if streams(fitted, objects):
            return gram_of_rows(rows_of_features(fitted, objects, memory), memory=memory)
        objects = read_whole(objects, memory)
    if features is not None and (features.in_blocks or fitted.kernel.is_linear):
        width = numbers_of(objects)
        entries = width
        if features.in_blocks:
            entries = features.rows(objects.take(slice(0, 1)), iter(()), np.float64)[0].shape[1]
        if cost.of_products(n, entries) <= cost.of_stored_products(n, width):
            return gram_of_rows(rows_of_features(fitted, objects, memory), memory=memory)
    gram = gram_of(fitted, objects, memory=memory)
    effort.announce(gram)
    return gram


def _check_dual(owner: str, dual: Any, fitted: FittedKernel) -> None:
    if not isinstance(dual, bool | np.bool_) and dual != "auto":
        raise _check.fail(owner, "dual", "True, False or 'auto'", dual)
    if dual:
        return
    if fitted.feature_map() is None:
        rule = f"True or 'auto' with {fitted.kernel}, which has no explicit features"
        raise _check.fail(owner, "dual", rule, dual)


def _worthwhile(settings: GramSettings, fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> bool:
    """Whether training on features is the only way or can cost less than on a matrix, judged by a few objects."""
    features, n, memory = fitted.feature_map(), len(objects), settings.memory
    if features is None or not all(solvable(loss) for loss in losses):
        return False
    form = form_of(losses, nu_form=settings.nu_form)
    beyond, least, write = _beyond(n, memory), features.columns_at_least(objects), _found(fitted)

    def pays(columns: float, entries: float) -> bool:
        width, groups = numbers_of(objects), settings.groups
        return beyond or cost.weights_pay(
            form, n, width=width, features=columns, entries=entries, write=write, groups=groups
        )

    if least and not pays(least, least):
        return False  # known before any feature is computed
    try:
        entries = entries_per_object(fitted, objects)
    except (KernelError, MemoryBudgetError):  # too many explicit features
        return False
    if not features.in_blocks and not budget.holds(memory, entries * n * _BYTES_PER_ENTRY):
        return False
    return pays(max(entries, least), entries)


def _found(fitted: FittedKernel) -> bool:
    """Whether features must be computed first, as for all kernels but the linear one."""
    return not fitted.kernel.is_linear


def _by_matrix(fitted: FittedKernel, objects: Objects, losses: Sequence[Loss]) -> bool:
    """Whether least squares would use the matrix anyway, as for few objects: then no features are computed."""
    n = len(objects)
    if n > normal_equations.MOST_FEATURES or n >= features_of(fitted).columns_at_least(objects):
        return False
    return form_of(losses) is cost.LEAST_SQUARES


def _beyond(n: int, memory: budget.Memory) -> bool:
    """Whether a matrix of n objects would exceed the memory budget."""
    return not budget.holds(memory, n * n * np.dtype(np.float32).itemsize)


def in_passes(gram: Gram) -> bool:
    """Whether products with a matrix are passes over blocks, done one after another, each on all cores."""
    return isinstance(gram.factor, BlockRows) and gram.factor.streamed


def guard(
    owner: str, kernel: Kernel, gram: Gram, psd: object, worth: Callable[[], float] = lambda: math.inf
) -> Guarded:
    """Check for a negative eigenvalue, unless kernel algebra rules it out, and handle it according to `psd`.

    Before a warning, the check costs at most a share of `worth`, the cost of training; otherwise it is thorough.
    """
    mode = _check.choice(owner, "psd", psd, MODES)
    if kernel.psd and kernel.on_trust and mode != "ignore":
        refuse_wrong_word(kernel, gram)
    if kernel.psd or mode == "ignore":
        return Guarded(gram, gram)
    gram = gram.stored_if_it_fits()  # the solver needs it anyway
    lowest = lowest_value(gram, worth() if mode == "warn" else math.inf)
    if lowest >= -negligible(gram):
        return Guarded(gram, gram)
    if mode in REPAIRS:
        return _repaired(gram.refined(), mode)
    message = (
        f"The Gram matrix of {kernel} is not positive semi-definite: its smallest eigenvalue is about {lowest:.3g}. No "
        "feature space has such inner products, so margins and optimality certificates mean little. Use a positive "
        "semi-definite kernel, or repair the matrix with psd='clip', 'flip' or 'shift'; psd='ignore' silences this."
    )
    if mode == "error":
        raise KernelError(message)
    warnings.warn(message, KernelWarning, stacklevel=4)
    return Guarded(gram, gram)


def _repaired(gram: Gram, mode: str) -> Guarded:
    K = gram.exact()
    if mode == "shift":
        _deadline.refuse_decomposition(len(K), _speed.EIGENVALUES)
        with decomposing(len(K)):
            shift = -float(scipy.linalg.eigvalsh(K, subset_by_index=(0, 0))[0])
        matrix = K.copy()
        matrix.flat[:: len(K) + 1] += shift
        return Guarded(gram_of_values(matrix, matrix.diagonal(), gram), gram, shift=shift)
    _deadline.refuse_decomposition(len(K), _speed.EIGENVECTORS)
    with decomposing(len(K)):
        values, vectors = scipy.linalg.eigh(K)
    wanted = np.maximum(values, 0.0) if mode == "clip" else np.abs(values)
    nothing = np.abs(values) <= len(K) * np.finfo(np.float64).eps * np.abs(values).max()
    factors = np.where(nothing, 0.0, np.sign(values) if mode == "flip" else values > 0)
    matrix = (vectors * np.where(nothing, 0.0, wanted)) @ vectors.T
    matrix = (matrix + matrix.T) / 2
    return Guarded(gram_of_values(matrix, matrix.diagonal(), gram), gram, vectors, factors)


def warn_of_scales(objects: Objects) -> None:
    """Warn if one feature dominates distances and dot products so much that the others have no effect."""
    if not isinstance(objects, Vectors) or objects.is_sparse or objects.n_features < 2:
        return
    means, variances = objects.moments
    if variances.max() <= _SCALES**2 * variances.min():  # also if no column varies
        return
    spread = np.sqrt(variances)
    usable = np.flatnonzero((spread > _ROUNDED * np.abs(means)) & np.isfinite(spread))
    if not len(usable):
        return
    widest, narrowest = usable[spread[usable].argmax()], usable[spread[usable].argmin()]
    if spread[widest] > _SCALES * spread[narrowest]:
        warnings.warn(
            f"The features are on wildly different scales: the standard deviation of column {widest} is "
            f"{spread[widest]:.3g}, of column {narrowest} {spread[narrowest]:.3g}. The kernel hardly sees the narrow "
            "ones. Standardise them, for example with sklearn.preprocessing.StandardScaler.",
            KernelWarning,
            stacklevel=4,
        )


def warn_if_constant(gram: Gram) -> None:
    """Warn if all objects look the same to the kernel, judged by an evenly spread sample of rows."""
    n = gram.shape[0]
    if n < 2:
        return
    try:
        rows = gram.rows(np.arange(0, n, -(-n // _SAMPLED_ROWS)))
    except TimeLimitError:  # there may still be time to train on a part of the objects
        return
    highest, lowest = float(rows.max()), float(rows.min())
    size = max(abs(highest), abs(lowest))
    if highest - lowest <= 1e-12 * size:
        warnings.warn(
            f"The kernel is constant on these {n} objects (every value is {size:g}): it cannot tell them apart. "
            "Rescale the data, or choose another width for the kernel.",
            KernelWarning,
            stacklevel=4,
        )
