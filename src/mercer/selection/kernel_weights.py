"""Weights for a sum of kernels, learnt from labelled objects.

Problem   given kernels k_1 ... k_m and labelled objects, choose weights >= 0 of sum_r weight_r k_r
Result    weights that add up to one; each kernel is first divided by its mean diagonal, which makes weights comparable
Source    alignment: Cortes, Mohri and Rostamizadeh, Algorithms for learning kernels based on centered alignment (2012);
          margin: Aiolli and Donini, EasyMKL (2015)

Alignment minimises |sum_r v_r K_r - T|^2 over v >= 0 for centred matrices K_r and T = YY', the matrix of a perfect
kernel.

EasyMKL plays a game: an opponent picks the two points, one in the hull of each class, that are nearest in the sum of
all kernels (minimising (1 - lam) g'Y K Y g + lam |g|^2, each class summing to one), and each kernel is weighted by how
far apart it keeps them, g'Y K_r Y g. That opponent is a support vector machine with the squared hinge loss: its dual
is the same problem up to the length of g, with C = (1 - lam) / (2 lam). So it costs one machine on the sum.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from scipy.optimize import nnls

from mercer import _deadline
from mercer._types import Float64
from mercer.gram.contract import Gram
from mercer.gram.effort import Effort
from mercer.losses.squared_hinge import SquaredHinge
from mercer.solvers.problem import LossProblem
from mercer.training.certificate import Certificate
from mercer.training.shares import ShareCertificate
from mercer.training.train import train

_STRIP = 512
"""How many rows are centred at a time: memory grows with it, and below a few hundred the calls cost more than the
products."""
_TOL = 1e-6
"""The tolerance of the machine from which weights are computed: a thousandth of the default, because weights sum over
all its coefficients."""
_PASSES = 3.0
"""Computed entries if none are stored, in triangles of the matrix: one triangle for the means, both for the strips."""
_REMEDY = "Learn them from a random part of the objects, or take method='uniform'."


def alignment(grams: Sequence[Gram], targets: Float64) -> tuple[Float64, ShareCertificate]:
    """Weights whose centred sum is most aligned with the targets, and the proof; `targets` has a column per class, or
    one of numbers.

    Rows are visited in strips, so no matrix needs to be stored; stored ones are used.
    """
    n, m = grams[0].shape[0], len(grams)
    Effort("Learning the weights of kernels", _PASSES * m, remedy=_REMEDY).announce(grams[0])
    wanted = targets - targets.mean(axis=0)
    means = [gram.matvec(np.full(n, 1.0 / n)) for gram in grams]
    inner, along = np.zeros((m, m)), np.zeros(m)
    timed = _deadline.Work("learning the weights of kernels", n)
    for start in range(0, n, _STRIP):
        rows = np.arange(start, min(start + _STRIP, n))
        strips = []
        for gram, mean in zip(grams, means, strict=True):
            block = gram.rows(rows).astype(np.float64)
            block -= mean[None, :]
            block -= (mean[rows] - mean.mean())[:, None]
            strips.append(block.ravel())
        stacked = np.stack(strips)
        inner += stacked @ stacked.T
        target = (wanted[rows] @ wanted.T).ravel()
        along += stacked @ target
        timed.advance(len(rows))
    found = _nearest_cone_point(inner, along)
    proof = _proof(inner, along, found, float(np.square(wanted.T @ wanted).sum()), np.dtype(grams[0].dtype).name)
    total = float(found.sum())
    return (found / total if total > 0 else np.full(m, 1.0 / m)), proof


def _nearest_cone_point(inner: Float64, along: Float64) -> Float64:
    """Minimise v'(inner)v - 2 along'v over v >= 0."""
    scale = np.sqrt(np.maximum(np.diag(inner), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(inner / np.outer(scale, scale))
    usable = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    root = np.sqrt(values[usable])[:, None] * vectors[:, usable].T
    right = (vectors[:, usable].T @ (along / scale)) / np.sqrt(values[usable])
    found: Float64 = nnls(root, right)[0] / scale
    return found


def _proof(inner: Float64, along: Float64, v: Float64, target: float, dtype: str) -> ShareCertificate:
    """The part of |T|^2 that the weights leave unexplained, and the least that any weights can leave.

    The objective is convex, so with slopes 2g at v its value at any u >= 0 is at least that at v plus 2 g'(u - v); and
    the best u explains at most everything, u'(inner)u <= |T|^2, which limits the effect of negative slopes.
    """
    m, slopes = len(v), inner @ v - along
    scale = np.sqrt(np.maximum(np.diag(inner), np.finfo(float).tiny))
    falling = float(np.maximum(-slopes / scale, 0.0).max(initial=0.0))
    least_curvature = 1.0 if (inner >= 0).all() else float(np.linalg.eigvalsh(inner / np.outer(scale, scale))[0])
    reach = np.sqrt(m * target / least_curvature) if least_curvature > 0 else np.inf
    left = max(float(v @ inner @ v - 2.0 * along @ v) + target, 0.0)
    beyond = 2.0 * float(slopes @ v) + (2.0 * falling * float(reach) if falling > 0 else 0.0)
    least = min(max(left - beyond, 0.0), left)
    residual = falling / max(np.sqrt(target), np.finfo(float).tiny)
    return ShareCertificate("weights", m, left, least, target, float(residual), dtype)


def margin(grams: Sequence[Gram], together: Gram, signs: Sequence[Float64], lam: float) -> tuple[Float64, Certificate]:
    """EasyMKL; `together` is the sum of all kernels, `signs` hold -1 or +1 of each object, once per pair of sides.

    The certificate is that of the machines from which the weights are computed.
    """
    total, began = np.zeros(len(grams)), time.monotonic()
    proofs = []
    for side in signs:
        C = np.full(len(side), 0.5 * (1.0 - lam) / lam)
        machine = train(together, LossProblem(SquaredHinge(), side, C), tol=_TOL)
        proofs.append(machine.certificate)
        b = machine.coefficients
        shares = np.array([float(b @ gram.matvec(b)) for gram in grams])
        size = float(shares.sum())
        total += shares / size if size > 0 else 1.0 / len(grams)
    weights = np.maximum(total, 0.0) / max(float(np.maximum(total, 0.0).sum()), np.finfo(float).tiny)
    return weights, Certificate.together(tuple(proofs), together.entries_computed, time.monotonic() - began)
