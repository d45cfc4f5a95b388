"""Kernels of two vectors, one plain loop each, straight from their formulas."""

import math
from collections.abc import Callable, Sequence
from itertools import combinations, product

import numpy as np

Vector = Sequence[float]
Pair = Callable[[Vector, Vector], float]


def gram(kernel: Pair, left: Sequence[Vector], right: Sequence[Vector]) -> np.ndarray:
    return np.array([[kernel(x, z) for z in right] for x in left], dtype=np.float64)


def bilinear(B: Sequence[Vector]) -> Pair:
    return lambda x, z: math.fsum(x[i] * B[i][j] * z[j] for i in range(len(x)) for j in range(len(z)))


def polynomial(degree: int, gamma: float, coef0: float) -> Pair:
    return lambda x, z: (gamma * math.fsum(a * b for a, b in zip(x, z, strict=True)) + coef0) ** degree


def all_subsets(x: Vector, z: Vector) -> float:
    """Every subset, by enumeration."""
    n = len(x)
    return math.fsum(
        math.prod(x[i] * z[i] for i in subset) for d in range(n + 1) for subset in combinations(range(n), d)
    )


def anova(degree: int) -> Pair:
    return lambda x, z: math.fsum(math.prod(x[i] * z[i] for i in s) for s in combinations(range(len(x)), degree))


def gaussian(gamma: Sequence[float]) -> Pair:
    return lambda x, z: math.exp(-math.fsum(g * (a - b) ** 2 for g, a, b in zip(gamma, x, z, strict=True)))


def l1(x: Vector, z: Vector) -> float:
    return math.fsum(abs(a - b) for a, b in zip(x, z, strict=True))


def euclidean(x: Vector, z: Vector) -> float:
    return math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def chi2(x: Vector, z: Vector) -> float:
    return math.fsum((a - b) ** 2 / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)


def decay(distance: Pair, gamma: float) -> Pair:
    return lambda x, z: math.exp(-gamma * distance(x, z))


def additive_chi2(x: Vector, z: Vector) -> float:
    return math.fsum(2 * a * b / (a + b) for a, b in zip(x, z, strict=True) if a + b > 0)


def intersection(x: Vector, z: Vector) -> float:
    return math.fsum(min(a, b) for a, b in zip(x, z, strict=True))


def minmax(x: Vector, z: Vector) -> float:
    largest = math.fsum(max(a, b) for a, b in zip(x, z, strict=True))
    return intersection(x, z) / largest if largest > 0 else 1.0


def tanimoto(x: Vector, z: Vector) -> float:
    shared = math.fsum(a * b for a, b in zip(x, z, strict=True))
    together = math.fsum(a * a for a in x) + math.fsum(b * b for b in z) - shared
    return shared / together if together > 0 else 1.0


def matern(nu: float, length_scale: float) -> Pair:
    """The general form with the Bessel function, not the closed forms."""
    from scipy.special import gamma, kv

    def value(x: Vector, z: Vector) -> float:
        scaled = math.sqrt(2 * nu) * euclidean(x, z) / length_scale
        return 2 ** (1 - nu) / gamma(nu) * scaled**nu * kv(nu, scaled) if scaled > 0 else 1.0

    return value


def rational_quadratic(alpha: float, length_scale: float) -> Pair:
    return lambda x, z: (1 + euclidean(x, z) ** 2 / (2 * alpha * length_scale**2)) ** -alpha


def periodic(period: float, length_scale: float) -> Pair:
    def value(x: Vector, z: Vector) -> float:
        total = math.fsum(math.sin(math.pi * (a - b) / period) ** 2 for a, b in zip(x, z, strict=True))
        return math.exp(-2 * total / length_scale**2)

    return value


def sigmoid(gamma: float, coef0: float) -> Pair:
    return lambda x, z: math.tanh(gamma * math.fsum(a * b for a, b in zip(x, z, strict=True)) + coef0)


def across(one: Callable[[float, float], float], how: str) -> Pair:
    """A kernel of two numbers, multiplied or added over the coordinates."""
    fold = math.prod if how == "product" else math.fsum
    return lambda x, z: fold(one(a, b) for a, b in zip(x, z, strict=True))


def spline(order: int) -> Pair:
    """The integral over knots in closed form by Gauss-Legendre quadrature, which is exact for polynomials."""
    nodes, weights = np.polynomial.legendre.leggauss(order + 2)

    def one(a: float, b: float) -> float:
        least = min(a, b)
        knots = (nodes + 1) / 2 * least
        area = float(np.sum(weights / 2 * least * (a - knots) ** order * (b - knots) ** order))
        return math.fsum((a * b) ** i for i in range(order + 1)) + area

    return across(one, "product")


def spline_with_knots(order: int, knots: Sequence[float]) -> Pair:
    def rising(a: float, t: float) -> float:
        return max(a - t, 0.0) ** order if order else float(a > t)

    def one(a: float, b: float) -> float:
        return math.fsum((a * b) ** i for i in range(order + 1)) + math.fsum(rising(a, t) * rising(b, t) for t in knots)

    return across(one, "product")


def matching(x: Sequence[object], z: Sequence[object]) -> float:
    return sum(a == b for a, b in zip(x, z, strict=True)) / len(x)


def monomial_coefficients(n: int, degree: int, gamma: float, coef0: float) -> dict[tuple[int, ...], float]:
    """The coefficients of (gamma x'z + coef0)^degree by multiplying it out, word by word."""
    found: dict[tuple[int, ...], float] = {}
    for word in product(range(n + 1), repeat=degree):  # letter n stands for coef0
        letters = tuple(sorted(letter for letter in word if letter < n))
        found[letters] = found.get(letters, 0.0) + gamma ** len(letters) * coef0 ** (degree - len(letters))
    return {letters: value for letters, value in found.items() if value}
