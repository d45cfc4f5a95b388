"""Kernels on series by enumeration and plain logarithms: slow and obvious."""

import math

import numpy as np


def alignments(n, m):
    """Every monotone path from (0, 0) to (n - 1, m - 1), as lists of pairs."""
    if n == 0 or m == 0:
        return
    if n == m == 1:
        yield [(0, 0)]
        return
    for i, j in ((n - 1, m), (n, m - 1), (n - 1, m - 1)):
        for path in alignments(i, j):
            yield [*path, (n - 1, m - 1)]


def moments(x):
    return np.asarray(x, dtype=float).reshape(len(x), -1)


def kappa(a, b, sigma, weight=1.0):
    g = weight * math.exp(-((a - b) ** 2).sum() / (2 * sigma**2))
    return g / (2 - g)


def weight(i, j, band):
    return 1.0 if band is None else max(0.0, 1.0 - abs(i - j) / band)


def global_alignment(x, z, sigma, band=None):
    x, z = moments(x), moments(z)
    paths = alignments(len(x), len(z))
    return sum(math.prod(kappa(x[i], z[j], sigma, weight(i, j, band)) for i, j in path) for path in paths)


def log_global_alignment(x, z, sigma):
    """The natural logarithm of the value, by the recursion in logarithms."""
    x, z = moments(x), moments(z)
    squares = ((x[:, None] - z[None]) ** 2).sum(axis=2) / (2 * sigma**2)
    logs = -squares - np.log(2 - np.exp(-squares))
    D = np.full((len(x) + 1, len(z) + 1), -np.inf)
    D[0, 0] = 0.0
    for i in range(len(x)):
        for j in range(len(z)):
            D[i + 1, j + 1] = logs[i, j] + np.logaddexp.reduce([D[i, j], D[i, j + 1], D[i + 1, j]])
    return D[-1, -1]


def warping(x, z, band=None):
    x, z = moments(x), moments(z)
    allowed = (path for path in alignments(len(x), len(z)) if band is None or all(abs(i - j) <= band for i, j in path))
    return min((sum(((x[i] - z[j]) ** 2).sum() for i, j in path) for path in allowed), default=math.inf)
