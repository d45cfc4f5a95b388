"""Two samples, one distribution? Two measurements, independent? Tests on any kernel, with permutation p-values.

Under the null hypothesis the labels of the pooled objects (or the pairing of the two views) are arbitrary, so the
statistic of the data is one of many equally likely ones. p = (1 + the number of B random ones that are as large) / (1 +
B) is exact for any sample size and any kernel, without further assumptions.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from mercer import _check, _deadline
from mercer._jit import Array, jit
from mercer._types import Float64
from mercer.errors import InputError, TimeLimitError
from mercer.gram import budget
from mercer.gram.centring import Centred
from mercer.gram.effort import Effort
from mercer.gram.executors import default_threads
from mercer.gram.make import gram_of
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.rbf import RBF
from mercer.theory.arguments import in_time, kernel_of

_AT_ONCE = 256
"""Permutations per product with the matrix. More take more memory, fewer need more passes over the matrix."""
_GATHERED = 20.0
"""The cost of one entry in a permutation of the independence test, which reads memory in random order, relative to one
multiplication."""


@final
@dataclass(frozen=True, eq=False)
class PermutationTest:
    """The statistic of the data, its p-value, and the statistics under permutation."""

    statistic: float
    p_value: float
    null: Float64

    @classmethod
    def of(cls, statistics: Float64) -> PermutationTest:
        """The test whose first statistic is that of the data."""
        return cls(float(statistics[0]), p_value(statistics), statistics[1:])

    def __str__(self) -> str:
        return f"statistic {self.statistic:.4g}, p = {self.p_value:.4g} from {len(self.null)} permutations"


@in_time
def mmd_test(
    X: Any,
    Y: Any,
    kernel: Any = None,
    *,
    permutations: int = 999,
    random_state: int | None = None,
    memory: float | str = "auto",
    time_limit: float | None = None,
) -> PermutationTest:
    """Whether two samples come from one distribution: the maximum mean discrepancy, unbiased.

    MMD^2 = mean k(x, x') + mean k(y, y') - 2 mean k(x, y), over pairs of different objects. `kernel` is an object,
    an expression or a function of two batches; by default a Gaussian of median width. It is fitted on both samples
    together. `time_limit` is in seconds: when it ends, the p-value is based on fewer permutations, with a warning.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> found = mmd_test(rng.normal(size=(50, 2)), rng.normal(1.0, 1.0, size=(50, 2)), random_state=0)
    >>> found.p_value
    0.001
    """
    del time_limit  # the decorator sees to it
    permutations = _check.integer("mmd_test", "permutations", permutations, low=1)
    chosen = _kernel("mmd_test", kernel)
    pooled = pool(X, Y)
    objects = chosen.coerce(pooled)
    m = len(chosen.coerce(X))
    n = len(objects) - m
    if m < 2 or n < 2:
        raise InputError(f"Both samples need two objects or more; got {m} and {n}.")
    gram = gram_of(chosen.fit(objects), objects, memory=memory)
    remedy = "Test random parts of the samples, or use fewer permutations."
    Effort("mmd_test", 1.0 + permutations / _AT_ONCE, columns=permutations + 2.0, remedy=remedy).announce(gram)
    gram = gram.stored_if_it_fits()
    own = gram.diagonal()
    rows = gram.matvec(np.ones((m + n, 1)))[:, 0] - own
    rng = np.random.default_rng(random_state)
    found: list[Float64] = []
    for start in range(0, permutations + 1, _AT_ONCE):
        if start and _out_of_time(start - 1, permutations):
            break
        width = min(_AT_ONCE, permutations + 1 - start)
        S = np.zeros((m + n, width))  # which objects are in the first sample
        for column in range(width):
            first = np.arange(m) if start + column == 0 else rng.permutation(m + n)[:m]
            S[first, column] = 1.0
        try:
            products = gram.matvec(S)
        except TimeLimitError:
            if not start:
                raise
            continue  # the next check of the clock warns and stops
        inside = (S * products).sum(axis=0) - own @ S
        across = rows @ S - inside
        rest = rows.sum() - 2.0 * across - inside
        found.append(inside / (m * (m - 1)) + rest / (n * (n - 1)) - 2.0 * across / (m * n))
    return PermutationTest.of(np.concatenate(found))


@in_time
def hsic_test(
    X: Any,
    Y: Any,
    kernel: Any = None,
    kernel_y: Any = None,
    *,
    permutations: int = 999,
    random_state: int | None = None,
    memory: float | str = "auto",
    time_limit: float | None = None,
) -> PermutationTest:
    """Whether two measurements of the same objects are independent: the Hilbert-Schmidt independence criterion.

    HSIC = trace(K H L H) / n^2 with the Gram matrices K and L of the two views. A permutation costs n^2 steps.
    `time_limit` is as in `mmd_test`.

    >>> import numpy as np
    >>> t = np.random.default_rng(0).normal(size=(60, 1))
    >>> hsic_test(t, t**2, random_state=0).p_value
    0.001
    """
    del time_limit  # the decorator sees to it
    permutations = _check.integer("hsic_test", "permutations", permutations, low=1)
    one, two = _kernel("hsic_test", kernel), _kernel("hsic_test", kernel_y)
    left, right = one.coerce(X), two.coerce(Y)
    n = len(left)
    if n != len(right) or n < 2:
        raise InputError(f"Two views of two or more objects are needed; got {n} and {len(right)} objects.")
    gram = gram_of(one.fit(left), left, memory=memory)
    remedy = "Test a random part of the objects, or use fewer permutations."
    if not gram.setting.holds(16 * n * n):
        budget.require(16 * n * n, gram.budget, f"hsic_test on {n:,} objects (two matrices in float64)", remedy)
    Effort("hsic_test", 2.0, columns=_GATHERED * default_threads() * permutations, remedy=remedy).announce(gram)
    K = Centred.of(gram).dense()
    L = gram_of(two.fit(right), right, memory=memory).exact()
    rng = np.random.default_rng(random_state)
    found = np.empty(permutations + 1)
    for number in range(permutations + 1):
        if number > 1 and _out_of_time(number - 1, permutations):
            found = found[:number]
            break
        order = np.arange(n) if number == 0 else rng.permutation(n)
        found[number] = _paired_sum(K, L, order) / (n * n)
    return PermutationTest.of(found)


def pool(X: Any, Y: Any) -> Any:
    """Both samples concatenated, in their original type."""
    if sp.issparse(X) or sp.issparse(Y):
        return sp.vstack([sp.csr_array(X), sp.csr_array(Y)]).tocsr()
    if hasattr(X, "columns"):  # a table of any library: by columns
        return {str(name): [*X[name], *Y[name]] for name in X.columns}
    if isinstance(X, dict):
        return {name: [*X[name], *Y[name]] for name in X}
    if isinstance(X, np.ndarray) and isinstance(Y, np.ndarray):
        return np.concatenate([X, Y])
    if isinstance(X, str) or isinstance(Y, str):
        raise InputError("Got one string where a sample is needed. Pass a list.")
    return [*X, *Y]


def _kernel(owner: str, kernel: Any) -> Kernel:
    found: Kernel = RBF(gamma="median") if kernel is None else kernel_of(owner, kernel)
    if found.is_precomputed and owner == "mmd_test":
        rule = "computed from the objects: both samples are compared with each other"
        raise _check.fail(owner, "kernel", rule, found)
    return found


def _out_of_time(done: int, wanted: int) -> bool:
    """Whether time has run out, so that fewer permutations must do; warns."""
    if _deadline.left() > 0:
        return False
    warnings.warn(
        f"The time limit was reached after {done} of {wanted} permutations. They make up the p-value, which is exact, "
        f"but cannot be below {1 / (1 + done):.2g}. Raise time_limit, or ask for fewer permutations.",
        ConvergenceWarning,
        stacklevel=4,
    )
    return True


def p_value(statistics: Float64) -> float:
    """The p-value of the first statistic, that of the data, among those of permutations."""
    # Values that are equal up to rounding count as larger: ties must not make the p-value too small.
    slack = 1e-12 * max(float(np.abs(statistics).max()), np.finfo(float).tiny)
    return int((statistics >= statistics[0] - slack).sum()) / len(statistics)


@jit
def _paired_sum(K: Array, L: Array, order: Array) -> float:
    """sum_ij K[i, j] L[order[i], order[j]]."""
    n = order.shape[0]
    total = 0.0
    for i in range(n):
        row, other = K[i], L[order[i]]
        part = 0.0
        for j in range(n):
            part += row[j] * other[order[j]]
        total += part
    return total
