"""Examples that the conformance suites run.

Kernels and losses provide their own in `examples`. Examples of kernels that are built from kernels are here, because
the algebra does not know any concrete kernel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mercer import kernels
from mercer.kernels.base import Kernel


def examples_of(kind: type) -> Iterator[Any]:
    """Records of this class."""
    own: Any = kind
    yield from own.examples()
    if issubclass(kind, Kernel):
        yield from (kernel for kernel in _made_of_kernels() if type(kernel) is kind)


def _made_of_kernels() -> Iterator[Kernel]:
    linear, narrow, wide = kernels.Linear(), kernels.RBF(gamma=1.0), kernels.RBF(gamma=0.1)
    middle, scaled, words = kernels.RBF(gamma=0.5), kernels.RBF(gamma="scale"), kernels.Spectrum(p=2)
    arcs = (("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("b", "t"))
    yield from (kernels.Centred(middle), kernels.Centred(linear * scaled), kernels.Centred(words))
    yield from (
        kernels.DerivedSubsets(middle),
        kernels.DerivedSubsets(middle, mean=True),
        kernels.MeanEmbedding(middle),
    )
    yield from (kernels.LatentSemantic(middle, k=4), kernels.LatentSemantic(kernels.Spectrum(p=1), k=2))
    yield from (kernels.Nystrom(middle, m=5), kernels.Nystrom(words, m=4, landmarks="uniform", random_state=1))
    yield kernels.DagKernel(arcs, (linear, wide, narrow, linear, linear, wide))
    yield from (kernels.ExpOf(0.1 * linear), kernels.ExpOf(kernels.normalise(kernels.Polynomial(degree=2))))
    yield from (kernels.Normalised(kernels.Polynomial(degree=2)), kernels.Normalised(words))
    yield kernels.PolynomialOf(linear, (1.0, 0.0, 2.0, 0.5))
    yield from (kernels.PolynomialOf(middle, (0.0, 1.0)), kernels.PolynomialOf(linear, (2.0,)))
    yield from (kernels.Power(linear, 2), kernels.Power(linear + middle, 3), kernels.Power(middle, 0))
    yield kernels.PullBack(scaled, _squares)
    yield from (kernels.Sum((wide, narrow)), kernels.Sum((linear, middle, linear * scaled)))
    yield from (kernels.Product((linear, middle)), kernels.Product((wide, linear + kernels.RBF(gamma=0.2))))
    yield kernels.Scaled(middle, 2.5)
    yield from (kernels.OnColumns(("text",), words), kernels.OnColumns(("a", "b"), middle))


def _squares(rows: Any) -> Any:
    return rows * rows
