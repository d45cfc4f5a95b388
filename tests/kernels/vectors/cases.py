"""Every kernel on vectors beside its oracle, and the range of numbers that it accepts."""

from typing import NamedTuple

from mercer import kernels
from mercer.kernels import Kernel
from tests.oracles import vectors as oracle


class Case(NamedTuple):
    name: str
    kernel: Kernel
    pair: oracle.Pair
    low: float = -3.0
    high: float = 3.0


B = [[2.0, 1.0, 0.0], [1.0, 2.0, -0.5], [0.0, -0.5, 1.0]]

CASES = [
    Case("bilinear", kernels.Bilinear(B), oracle.bilinear(B)),
    Case("polynomial", kernels.Polynomial(3, 0.5, 2.0), oracle.polynomial(3, 0.5, 2.0)),
    Case("all subsets", kernels.AllSubsets(), oracle.all_subsets),
    *(Case(f"anova {d}", kernels.ANOVA(d), oracle.anova(d)) for d in range(4)),
    Case("gaussian", kernels.RBF(0.3), oracle.gaussian([0.3] * 3)),
    Case("gaussian per feature", kernels.RBF((0.3, 0.0, 1.5)), oracle.gaussian([0.3, 0.0, 1.5])),
    Case("laplacian", kernels.Laplacian(0.4), oracle.decay(oracle.l1, 0.4)),
    Case("exponential", kernels.Exponential(0.7), oracle.decay(oracle.euclidean, 0.7)),
    Case("exponential chi2", kernels.ExponentialChi2(0.6), oracle.decay(oracle.chi2, 0.6), low=0.0),
    Case("additive chi2", kernels.AdditiveChi2(), oracle.additive_chi2, low=0.0),
    Case("intersection", kernels.HistogramIntersection(), oracle.intersection, low=0.0),
    Case("tanimoto", kernels.Tanimoto(), oracle.tanimoto, low=0.0),
    Case("minmax", kernels.MinMax(), oracle.minmax, low=0.0),
    *(Case(f"matern {nu}", kernels.Matern(nu, 1.3), oracle.matern(nu, 1.3)) for nu in (0.5, 1.5, 2.5)),
    Case("rational quadratic 2", kernels.RationalQuadratic(2.0, 0.8), oracle.rational_quadratic(2.0, 0.8)),
    Case("rational quadratic .7", kernels.RationalQuadratic(0.7, 0.8), oracle.rational_quadratic(0.7, 0.8)),
    Case("rational quadratic 11", kernels.RationalQuadratic(11.0, 0.8), oracle.rational_quadratic(11.0, 0.8)),
    Case("periodic", kernels.Periodic(1.7, 1.2), oracle.periodic(1.7, 1.2)),
    Case("sigmoid", kernels.Sigmoid(0.3, 0.5), oracle.sigmoid(0.3, 0.5)),
    *(Case(f"spline {s}", kernels.Spline(s), oracle.spline(s), low=0.0, high=2.0) for s in range(4)),
    *(
        Case(
            f"spline {s} with knots", kernels.Spline(s, (-0.5, 0.1, 1.0)), oracle.spline_with_knots(s, (-0.5, 0.1, 1.0))
        )
        for s in range(3)
    ),
    *(
        case
        for how in ("product", "sum")
        for case in (
            Case(
                f"min {how}", kernels.IntervalMin(-1.0, how), oracle.across(lambda a, b: min(a, b) + 1, how), low=-1.0
            ),
            Case(
                f"union complement {how}",
                kernels.IntervalUnionComplement(2.0, how),
                oracle.across(lambda a, b: 2 - max(a, b), how),
                high=2.0,
            ),
            Case(
                f"agreement {how}",
                kernels.IntervalAgreement(-1.0, 2.0, how),
                oracle.across(lambda a, b: 3 - abs(a - b), how),
                low=-1.0,
                high=2.0,
            ),
            Case(f"tent {how}", kernels.Tent(0.8, how), oracle.across(lambda a, b: max(0.0, 1.6 - abs(a - b)), how)),
        )
    ),
]
