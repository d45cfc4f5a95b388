"""The cost model: the one place where the library weighs methods against each other.

A cost is the number of operations of each kind times the time of one, in nanoseconds of one core of 2020. These rates
are constants and no clock is read, so the same data take the same path on every machine, and results are reproducible.
They need not be exact: if two methods have similar estimates, they take about the same time, and either is fine.

With n objects, d features of which an object has e, and w numbers that a kernel value is computed from:

    kernel values      count (ENTRY + w MULTIPLY)
    a matrix           n^2 (ENTRY + w MULTIPLY + passes READ) + steps n (n STEP + STEP_CALL) + n^3 / 3 FACTOR
    weights            steps (n e PASSES READ + curved e^2 MULTIPLY / 2 + d^3 / 3 FACTOR + CALL) + n e WRITE
                       or, of very many features, sweeps n e READ + n e WRITE
    weights by loops   steps LOOP (n d PASSES + n d e / 2 + d^3 / 6), while that is less than a step as above
                       steps PASSES (n e + n + d) VISIT on sparse rows, while that is less, too
    a ridge by CG      n^2 (entries computed (ENTRY + w MULTIPLY) + products READ) + n rank^2 MULTIPLY + calls CALL
    eigenvectors       n^3 EIGEN, or blocks (CALL + n^2 BLOCK_READS READ) for a few of them
    support objects    count (ENTRY + (w + outputs) MULTIPLY), for each new object
    decisions of pairs multiplied LOOP, or multiplied MULTIPLY + groups PRODUCT_CALL + 4 halves READ
    folded             e (WRITE + READ + outputs MULTIPLY), for each new object, and once for each support object
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

MULTIPLY = 0.08
"""A multiplication and an addition within a product of matrices: 25 GFlop/s in float64."""
FACTOR = 0.1
"""The same within a triangular factor, which has less to reuse."""
EIGEN = 0.09
"""Per n^3, when a few eigenvectors of an n x n matrix are computed: half of the work is products with vectors."""
READ = 0.3
"""Reading a number for a single multiplication, as in a product with a vector."""
ENTRY = 1.0
"""A kernel value beyond its dot product: an exponential or power, and storing it."""
WRITE = 10.0
"""Finding a feature before it can be used: looking up a hash, multiplying coordinates."""
STEP, STEP_CALL = 1.0, 400.0
"""A step along a pair of coefficients: the cost per coefficient, and per step."""
CALL = 150_000.0
"""The Python overhead of one Newton step."""
PRODUCT_CALL = 2_000.0
"""The overhead of Python and BLAS in one small product of matrices."""
LOOP = 0.15
"""A multiplication and an addition in one of our compiled loops, which are not blocked for the cache."""
VISIT = 1.2
"""Reading an entry of a sparse row and the number that it belongs to, which may be anywhere."""
AT_ONCE = 250_000.0
"""The cost of a Newton step of all machines that one compiled call handles. A call takes some dozens of steps: ten or
twenty milliseconds, so that Ctrl-C does not wait and threads have something to share.
"""
THREADS = 150_000.0
"""Planning tiles and waking threads. Work that costs less is done at once, in the calling thread."""
MACHINE = 1_500_000.0
"""The Python overhead of training one machine, during which no other thread can run Python. Cheaper machines are
trained one after the other: with two threads, ten classes of 50 objects took half as long again, classes of 300 as
long, and classes of 600 three quarters of the time.
"""
MOST_FEATURES = 1000
"""Up to this many features, Newton's method forms a matrix over them. Memory grows with their square and time with
their cube, while conjugate gradients and coordinate descent only see the entries of the rows."""
_SINGLE_FACTOR = MULTIPLY / 2 / 6
"""Per n^3, for a factor in float32: n^3 / 6 multiplications and additions at twice the speed."""
_RIDGE_PRODUCTS, _RIDGE_COMPUTED, _RIDGE_CALLS = 40.0, 3.5, 400.0
"""Ridge regression by conjugate gradients, with a penalty of usual size: the number of products with the matrix; how
often its entries are computed (half of them to be packed, then for each residual in float64); and of steps in Python.
"""
_SURELY = 2.0
"""How many times as expensive a factorisation must be before conjugate gradients are used. A factorisation is exact to
rounding and takes as long with any penalty; with a small one, conjugate gradients take more products, or fail.
"""
_STEPS_OF_A_PAIR = 3.0
"""How often the steps for a pair of classes read its matrix, measured on the same runs."""
_PRODUCTS = 50.0
"""Products with a Gram matrix needed to find its leading eigenvectors."""
_BLOCKS, _BLOCK_READS = 10.0, 3.0
"""The number of such products with a few vectors at once, and the cost of one relative to a single vector."""
_HALVES = 4.0
"""How often products of groups touch the halves of decisions: to clear them, add to them and read them."""
_PASSES = 4.0
"""Passes over the rows per Newton step: outputs, gradient, line search."""
_SPARSE_PASSES = 10.0
"""Such passes over the entries of sparse rows, where products take the place of a factor ..."""
_ONE_CALL = 20_000_000.0
"""... and how long a compiled call may take for most problems: a fiftieth of a second. The hardest take some twenty
times as long before they are given up, and Ctrl-C and limits do not wait longer than that."""
_EARLY = 0.1
"""The fraction of rows with curvature, averaged over the steps: nearly all in the first steps ..."""
_LATE = 1.2
"""... and later about as many as there are features."""


@final
@dataclass(frozen=True)
class Form:
    """The amounts of work for a kind of loss, on a matrix and on weights: medians over many problems."""

    newton_steps: float
    """Newton steps on weights ..."""
    sweeps: float
    """... and sweeps over the rows, if there are too many weights for a matrix over them."""
    call: float = CALL
    all_curved: bool = False
    """Whether all rows have curvature in every step."""
    pair_steps: float = 0.0
    """Steps on the matrix per object, at most as many as there are features."""
    passes: float = 0.0
    """Passes over the matrix, in products with vectors."""
    overhead: float = 0.0
    """A fixed cost on the matrix, whatever its size."""
    factored: bool = False
    """Whether the matrix is factored."""


KINKED = Form(newton_steps=40, sweeps=4000, pair_steps=15)
"""Hinges and quantiles: steps along pairs of coefficients on a matrix; kinks smoothed to parabolas on weights."""
TUBE = Form(newton_steps=40, sweeps=4000, pair_steps=5)
"""The same with a tube, outside of which most coefficients go straight to a bound."""
NU = Form(newton_steps=35, sweeps=4000, call=4 * CALL, pair_steps=3)
"""The same with a level that is minimised as well."""
SMOOTH = Form(newton_steps=7, sweeps=400, all_curved=True, passes=25, overhead=20 * CALL)
"""Newton's method on either."""
LEAST_SQUARES = Form(newton_steps=1, sweeps=400, call=2 * CALL, all_curved=True, overhead=CALL, factored=True)
"""One linear system on either."""


def of_entries(count: float, width: float) -> float:
    """The cost of kernel values, each computed from `width` numbers."""
    return count * (ENTRY + width * MULTIPLY)


def of_matrix(form: Form, n: int, width: float, features: float) -> float:
    """The cost of training on the Gram matrix."""
    cost = form.overhead + of_entries(n * n, width) + n * n * form.passes * READ
    steps = n * min(form.pair_steps, features)
    return cost + steps * of_step(n) + (of_factor(n) if form.factored else 0.0)


def of_weights(form: Form, n: int, features: float, entries: float, *, write: bool = False) -> float:
    """The cost of training on weights of features, `entries` per object; `write` if they must be found first."""
    written = n * entries * WRITE if write else 0.0
    if features > MOST_FEATURES:
        return form.sweeps * n * entries * READ + written
    curved = n if form.all_curved else min(n, _EARLY * n + _LATE * features)
    step = form.call + n * entries * _PASSES * READ + curved * entries**2 * MULTIPLY / 2 + of_factor(features)
    return form.newton_steps * step + written


def of_loops(n: int, features: float, entries: float) -> float:
    """The cost of one Newton step on weights by compiled loops over n dense rows."""
    return LOOP * (n * features * _PASSES + n * features * entries / 2 + features**3 / 6)


def loops_pay(n: int, features: int, entries: float) -> bool:
    """Whether such a step costs less than one by products of matrices with its Python overhead."""
    if features > MOST_FEATURES:
        return False
    products = CALL + n * entries * _PASSES * READ + n * entries**2 * MULTIPLY / 2 + of_factor(features)
    return of_loops(n, features, entries) <= products


def of_sparse_step(n: int, features: int, entries: float) -> float:
    """Of one Newton step on weights by compiled loops over the entries of sparse rows, with conjugate gradients."""
    return _SPARSE_PASSES * (n * entries + n + features) * VISIT


def sparse_loops_pay(n: int, features: int, entries: float) -> bool:
    """Whether a machine is trained sooner by such steps than by those with a factor, and soon enough for one call."""
    if features > MOST_FEATURES:
        return False
    here = SMOOTH.newton_steps * of_sparse_step(n, features, entries)
    dense = SMOOTH.newton_steps * of_loops(n, features, entries)
    return here <= min(of_weights(SMOOTH, n, features, entries), dense, _ONE_CALL)


def weights_pay(
    form: Form, n: int, *, width: float, features: float, entries: float, write: bool = False, groups: int = 2
) -> bool:
    """Whether training on weights costs less than on kernel values computed from `width` numbers.

    With more than two `groups` there is a machine for each pair of them, on its share of the objects; kernel values and
    features are computed once for all machines.
    """
    machines, size = (groups * (groups - 1) // 2, max(2, 2 * n // groups)) if groups > 2 else (1, n)
    one = of_matrix(form, size, width, features) - of_entries(size * size, width)
    on_matrix = of_entries(n * n, width) + machines * one
    written = n * entries * WRITE if write else 0.0
    return machines * of_weights(form, size, features, entries) + written <= on_matrix


def of_products(n: int, entries: float) -> float:
    """The cost of the products with a Gram matrix in an eigensolver, by features that must be found."""
    return n * entries * (2.0 * _PRODUCTS * READ + WRITE)


def of_stored_products(n: int, width: float) -> float:
    """The same by the matrix itself."""
    return of_entries(n * n, width) + n * n * _PRODUCTS * READ


def of_some_eigenvectors(n: int) -> float:
    """The cost of all eigenvalues and a few eigenvectors of a matrix, by LAPACK."""
    return n**3 * EIGEN


def of_leading_eigenvectors(n: int) -> float:
    """The cost of the leading eigenvectors alone, by products with blocks of vectors."""
    return _BLOCKS * (CALL + n * n * _BLOCK_READS * READ)


def of_factor(n: float) -> float:
    """The cost of a triangular factor."""
    return n**3 / 3 * FACTOR


def of_single_factor(n: float) -> float:
    """The cost of a triangular factor in float32, which is as fast as a product if the matrix is large."""
    return n**3 * _SINGLE_FACTOR


def single_factor_of(cost: float) -> float:
    """The size of the matrix whose float32 factor has this cost."""
    return float((cost / _SINGLE_FACTOR) ** (1 / 3))


def of_ridge_products(n: int, width: float, rank: int) -> float:
    """The cost of ridge regression by conjugate gradients, with a preconditioner of this rank."""
    read = _RIDGE_PRODUCTS * n * n * READ
    return _RIDGE_CALLS * CALL + _RIDGE_COMPUTED * of_entries(n * n, width) + read + n * rank**2 * MULTIPLY


def ridge_products_pay(n: int, width: float, rank: int) -> bool:
    """Whether that is sure to cost less than a factorisation."""
    return _SURELY * of_ridge_products(n, width, rank) <= of_entries(n * n, width) + of_factor(n)


def factor_pays(n: int, width: float, products: int) -> bool:
    """Whether a factorisation costs less than so many products, each of which computes all kernel values anew."""
    return of_entries(n * n, width) + of_factor(n) < products * of_entries(n * n, width)


def of_step(n: int) -> float:
    """The cost of one step along a pair of coefficients."""
    return n * STEP + STEP_CALL


def of_pair(n: int, width: float) -> float:
    """The cost of the machine for a pair of classes; `width` is 0 if the matrix is already computed."""
    return n * n * (_STEPS_OF_A_PAIR + width * MULTIPLY / 2)


def blocks_pay(groups: int, n: int, width: float) -> bool:
    """Whether all pairs of groups of n objects are trained sooner by compiled calls, on kernel values in float64, than
    machine by machine, on values that cost half as much."""
    return of_entries(n * n / 2, width) / 2 <= groups * (groups - 1) / 2 * MACHINE


def pair_loops_pay(rows: int, support: int, groups: int) -> bool:
    """Whether decisions of pairs of groups of support objects cost less by a compiled loop than by products of groups.

    The products store their halves, and read them again for each tile and for their sum.
    """
    multiplied, halves = float(rows) * support * (groups - 1), float(rows) * groups * (groups - 1)
    return multiplied * LOOP <= multiplied * MULTIPLY + groups * PRODUCT_CALL + _HALVES * halves * READ


def of_support(support: int, width: float, outputs: int) -> float:
    """The cost of scoring one new object by comparing it with all support objects."""
    return of_entries(support, width + outputs)


def of_folded(entries: float, outputs: int, *, write: bool) -> float:
    """The cost of scoring one new object by weights of its features; `write` if they must be found first."""
    return entries * (READ + outputs * MULTIPLY + (WRITE if write else 0.0))
