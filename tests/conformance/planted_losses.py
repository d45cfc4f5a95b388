"""Correct losses, and losses with one bug each."""

import dataclasses
import itertools
from dataclasses import dataclass

import numpy as np

from mercer.losses.base import Loss
from mercer.losses.curvature import CurvatureRoot, DiagonalRoot
from mercer.losses.dual import Dual
from mercer.losses.multinomial import Multinomial


@dataclass(frozen=True)
class SquaredHinge(Loss):
    """max(0, 1 - y f)^2: smooth, but its curvature jumps."""

    smooth = True
    classifies = True

    def value(self, y, f):
        return np.maximum(0.0, 1.0 - y * f) ** 2

    def slope(self, y, f):
        return -2.0 * y * np.maximum(0.0, 1.0 - y * f)

    def curvature(self, y, f):
        return np.where(y * f < 1.0, 2.0, 0.0)

    def conjugate(self, y, a):
        return np.where(y * a <= 0.0, y * a + (y * a) ** 2 / 4, np.inf)

    def dual(self, y, C):
        return Dual.of(-y, lower=np.where(y > 0, 0.0, -np.inf), upper=np.where(y > 0, np.inf, 0.0), ridge=0.5 / C)

    @classmethod
    def examples(cls):
        yield cls()


@dataclass(frozen=True)
class EpsilonInsensitive(Loss):
    """max(0, |y - f| - epsilon), whose dual has a kink."""

    epsilon: float = 0.25
    smooth = False
    classifies = False

    def value(self, y, f):
        return np.maximum(0.0, np.abs(y - f) - self.epsilon)

    def slope(self, y, f):
        return np.where(np.abs(y - f) > self.epsilon, np.sign(f - y), 0.0)

    def curvature(self, y, f):
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(f)))

    def conjugate(self, y, a):
        return np.where(np.abs(a) <= 1.0, a * y + self.epsilon * np.abs(a), np.inf)

    def dual(self, y, C):
        return Dual.of(-y, lower=-C, upper=C, kink=self.epsilon)

    @classmethod
    def examples(cls):
        yield cls()


@dataclass(frozen=True)
class Hinge(Loss):
    """max(0, 1 - y f), with formulas of its own: those of the library come from its dual."""

    smooth = False
    classifies = True

    def value(self, y, f):
        return np.maximum(0.0, 1.0 - y * f)

    def slope(self, y, f):
        return np.where(y * f < 1.0, -y, 0.0)

    def curvature(self, y, f):
        return np.zeros(np.broadcast_shapes(np.shape(y), np.shape(f)))

    def conjugate(self, y, a):
        return np.where((y * a <= 0.0) & (y * a >= -1.0), y * a, np.inf)

    def dual(self, y, C):
        return Dual.of(-y, lower=np.where(y > 0, 0.0, -C), upper=np.where(y > 0, C, 0.0))


LOSSES = []
"""(class, the check that it must fail, the other checks that it may fail)."""


def plant(check, *others):
    def register(cls):
        LOSSES.append((dataclass(frozen=True)(cls), check, set(others)))
        return cls

    return register


@plant("loss_values", "loss_fenchel_young", "loss_conjugates")
class Negative(Hinge):
    def value(self, y, f):
        return super().value(y, f) - 1.0


@plant("loss_values", "loss_slopes", "loss_fenchel_young", "loss_convexity", "loss_conjugates")
class SinglePrecision(Hinge):
    def value(self, y, f):
        return super().value(y, f).astype(np.float32)


@plant("loss_slopes", "loss_fenchel_young", "loss_curvatures")
class WrongSlope(Hinge):
    def slope(self, y, f):
        return -super().slope(y, f)


@plant("loss_slopes")
class ClaimsToBeSmooth(Hinge):
    smooth = True


@plant("loss_curvatures")
class WrongCurvature(Hinge):
    def curvature(self, y, f):
        return np.ones_like(f)


@plant("loss_curvatures")
class ForgottenCurvature(SquaredHinge):
    def curvature(self, y, f):
        return np.zeros_like(f)


@plant("loss_convexity", "loss_slopes", "loss_conjugates", "loss_fenchel_young", "loss_curvatures")
class Ramp(Hinge):
    def value(self, y, f):
        return np.minimum(super().value(y, f), 2.0)


@plant("loss_conjugates", "loss_fenchel_young", "loss_duals")
class WrongConjugate(Hinge):
    def conjugate(self, y, a):
        return 1.1 * super().conjugate(y, a)


@plant("loss_conjugates", "loss_fenchel_young", "loss_duals")
class ConjugateWithoutDomain(Hinge):
    def conjugate(self, y, a):
        return y * a


@plant("loss_conjugates", "loss_fenchel_young", "loss_duals")
class ConjugateOfNarrowDomain(Hinge):
    def conjugate(self, y, a):
        return np.where(y * a > -0.5, super().conjugate(y, a), np.inf)


@plant("loss_fenchel_young")
class SlopeOffByLittle(SquaredHinge):
    def slope(self, y, f):
        return (1 + 2e-4) * super().slope(y, f)


@plant("loss_duals")
class DualWithBoundsOfTwiceTheSize(Hinge):
    def dual(self, y, C):
        return super().dual(y, 2 * C)


@plant("loss_duals")
class DualWithoutABound(Hinge):
    def dual(self, y, C):
        right = super().dual(y, C)
        return dataclasses.replace(right, upper=np.where(y > 0, np.inf, 0.0))


@plant("loss_duals")
class DualOfTheWrongSign(Hinge):
    def dual(self, y, C):
        return dataclasses.replace(super().dual(y, C), linear=y)


@plant("loss_duals")
class DualThatForgetsTheKink(EpsilonInsensitive):
    def dual(self, y, C):
        return Dual.of(-y, lower=-C, upper=C)


@plant("loss_duals")
class DualWithAKinkForEveryPenalty(EpsilonInsensitive):
    def dual(self, y, C):
        return Dual.of(-y, lower=-C, upper=C, kink=self.epsilon * C)


@plant("loss_duals")
class DualThatForgetsTheRidge(SquaredHinge):
    def dual(self, y, C):
        return dataclasses.replace(super().dual(y, C), ridge=np.zeros_like(y))


@plant("loss_duals")
class DualWithTwiceTheRidge(SquaredHinge):
    def dual(self, y, C):
        return super().dual(y, C / 2)


@plant("loss_purity", "loss_slopes", "loss_curvatures", "loss_convexity", "loss_conjugates", "loss_fenchel_young",
       "loss_duals")  # fmt: skip
class WritesToItsArguments(Hinge):
    def value(self, y, f):
        result = super().value(y, f)
        f += 1e-3
        return result


_calls = itertools.count()


@plant("loss_purity")
class CountsItsCalls(Hinge):
    def curvature(self, y, f):
        return np.full_like(f, 1e-6 * next(_calls))


# Losses of several decision values --------------------------------------------------------------------------------


@plant("vector_loss_values", "vector_loss_fenchel_young")
class NegativeVector(Multinomial):
    def value(self, y, f):
        return super().value(y, f) - 1.0


@plant("vector_loss_slopes", "vector_loss_fenchel_young", "vector_loss_curvatures")
class WrongGradient(Multinomial):
    def slope(self, y, f):
        return 1.001 * super().slope(y, f)


@plant("vector_loss_curvatures")
class WrongHessianDiagonal(Multinomial):
    def curvature(self, y, f):
        return 1.001 * super().curvature(y, f)


@plant("vector_loss_curvatures")
class RootOfTheDiagonalOnly(Multinomial):
    def curvature_root(self, y, f):
        return DiagonalRoot(np.sqrt(self.curvature(y, f)))


class RightRoot(CurvatureRoot):
    """Another root, unchanged: bugs are planted on it."""

    def __init__(self, right):
        self.right = right

    def applied(self, v):
        return self.right.applied(v)

    def transposed(self, v):
        return self.right.transposed(v)

    def times(self, factors):
        return type(self)(self.right.times(factors))

    def part(self, objects):
        return type(self)(self.right.part(objects))

    def diagonal(self):
        return self.right.diagonal()

    def total(self):
        return self.right.total()


class SkewedRoot(RightRoot):
    def applied(self, v):
        return 2.0 * self.right.applied(v)

    def transposed(self, v):
        return 0.5 * self.right.transposed(v)


class GreedyRoot(RightRoot):
    def within(self, v):
        return v - v.mean(axis=1, keepdims=True)


class DoublyBentRoot(RightRoot):
    def hessian_times(self, v):
        return 1.001 * super().hessian_times(v)


class WrongTotalRoot(RightRoot):
    def total(self):
        return np.diag(np.diagonal(self.right.total()))


class SteepRoot(RightRoot):
    def diagonal(self):
        return 1.001 * self.right.diagonal()


@plant("vector_loss_curvatures")
class TransposedIsNotTheTranspose(Multinomial):
    def curvature_root(self, y, f):
        return SkewedRoot(super().curvature_root(y, f))


@plant("vector_loss_curvatures")
class WithinTakesTooMuch(Multinomial):
    def curvature_root(self, y, f):
        return GreedyRoot(super().curvature_root(y, f))


@plant("vector_loss_curvatures")
class WrongProductWithTheHessian(Multinomial):
    def curvature_root(self, y, f):
        return DoublyBentRoot(super().curvature_root(y, f))


@plant("vector_loss_curvatures")
class WrongTotalOfTheRoot(Multinomial):
    def curvature_root(self, y, f):
        return WrongTotalRoot(super().curvature_root(y, f))


@plant("vector_loss_curvatures")
class WrongDiagonalOfTheRoot(Multinomial):
    def curvature_root(self, y, f):
        return SteepRoot(super().curvature_root(y, f))


@plant("vector_loss_convexity", "vector_loss_slopes", "vector_loss_fenchel_young")
class CappedVector(Multinomial):
    def value(self, y, f):
        return np.minimum(super().value(y, f), 2.0)


@plant("vector_loss_fenchel_young")
class WrongVectorConjugate(Multinomial):
    def conjugate(self, y, a):
        return 0.9 * super().conjugate(y, a)


@plant("vector_loss_fenchel_young")
class VectorConjugateWithoutDomain(Multinomial):
    def conjugate(self, y, a):
        found = super().conjugate(y, a)
        return np.where(np.isfinite(found), found, 0.0)


@plant("vector_loss_purity")
class WritesToItsDecisions(Multinomial):
    def conjugate(self, y, a):
        result = super().conjugate(y, a)
        a[0, 0] += 1e-12
        return result
