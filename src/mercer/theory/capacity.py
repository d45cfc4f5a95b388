"""The VC dimension of machines with kernels that are polynomials of the coordinates.

The machines sign(<w, phi(x)> + b) are the signs of a vector space of functions; their VC dimension is the dimension of
that space (Dudley, 1978). For a kernel that is a polynomial of degree p in R^n the space has at most binomial(n + p, p)
dimensions; the exact number is the rank of a Gram matrix of that many objects in general position.
"""

from __future__ import annotations

import math

import numpy as np

from mercer import _check
from mercer.errors import ParameterError
from mercer.kernels.algebra.constant import Constant
from mercer.kernels.algebra.functions import PolynomialOf, Power
from mercer.kernels.algebra.sums import Product, Scaled, Sum
from mercer.kernels.base import Kernel
from mercer.kernels.vectors.anova import ANOVA, AllSubsets
from mercer.kernels.vectors.linear import Bilinear, Linear
from mercer.kernels.vectors.polynomial import Polynomial

_LARGEST_RANK = 2000
"""Ranks are computed up to this size, in a few seconds; the time grows with the cube."""
_NEGLIGIBLE = 1e-9
"""Singular values below this fraction of the largest are rounding errors, which are about 1e-13 for a unit diagonal;
the smallest true ones of polynomials of degree 6 are above 1e-7."""


def vc_dimension(kernel: Kernel, n_features: int, *, intercept: bool = True) -> int:
    """The VC dimension of sign(<w, phi(x)> + b) over all w and b: n + 1 for hyperplanes in R^n.

    It is the number of linearly independent functions that the kernel offers, known for dot products, polynomials, and
    sums, products, powers and multiples of these; kernels with infinitely many such functions have no VC dimension.

    >>> from mercer import kernels
    >>> vc_dimension(kernels.Linear(), 10), vc_dimension(kernels.Polynomial(degree=2), 2)
    (11, 6)
    >>> vc_dimension(kernels.Linear() ** 2, 2), vc_dimension(kernels.AllSubsets(), 4)
    (4, 16)
    """
    n = _check.integer("vc_dimension", "n_features", n_features, low=1)
    degree = _degree(kernel, n)
    if degree is None:
        raise ParameterError(
            f"The VC dimension of machines with the kernel {kernel} is infinite, or not known to be finite: "
            "a Gaussian kernel, for example, separates any objects labelled in any way. The VC bound says nothing; use "
            "margin_bound, radius_margin_bound, support_vector_bound or rademacher_bound, which depend on the "
            "margin reached."
        )
    if isinstance(kernel, Linear):
        return n + int(intercept)
    if isinstance(kernel, Polynomial):
        if kernel.coef0 > 0 or kernel.degree == 0:  # the monomials up to the degree, the constant among them
            return math.comb(n + kernel.degree, kernel.degree)
        return math.comb(n + kernel.degree - 1, kernel.degree) + int(intercept)
    if isinstance(kernel, AllSubsets):
        return int(2**n)
    return _rank(kernel, n, most=math.comb(n + degree, degree), intercept=intercept)


def _degree(kernel: Kernel, n: int) -> int | None:
    """The degree of a kernel as a polynomial of the coordinates of one object, None if it is not known to be one."""
    match kernel:
        case Constant():
            return 0
        case Linear() | Bilinear():
            return 1
        case Polynomial() | ANOVA():
            return int(kernel.degree)
        case AllSubsets():
            return n
    of_parts = [_degree(part, n) for part in kernel.children]
    degrees = [degree for degree in of_parts if degree is not None]
    if len(degrees) < len(of_parts):
        return None
    match kernel:
        case Sum():
            return max(degrees)
        case Product():
            return sum(degrees)
        case Scaled():
            return degrees[0]
        case Power():
            return kernel.exponent * degrees[0]
        case PolynomialOf():
            return (len(kernel.coefficients) - 1) * degrees[0]
    return None


def _rank(kernel: Kernel, n: int, *, most: int, intercept: bool) -> int:
    """The number of linearly independent functions k(x, .) and, with an intercept, 1; at most `most`."""
    if most > _LARGEST_RANK:
        raise ParameterError(
            f"The VC dimension of machines with the kernel {kernel} on {n} features is at most {most:,}; its exact "
            f"value is computed up to {_LARGEST_RANK:,} only."
        )
    points = np.random.default_rng(0).uniform(-1.0, 1.0, size=(most + 1, n))
    functions = kernel.fit(points)(points)
    if intercept:
        functions = functions + 1.0
    scale = np.sqrt(np.maximum(functions.diagonal(), np.finfo(float).tiny))
    values = np.linalg.svd(functions / np.outer(scale, scale), compute_uv=False)
    return int(np.count_nonzero(values > _NEGLIGIBLE * values[0]))
