"""Formulas for notebooks, and proofs in words."""

import pytest

from mercer import kernels
from mercer._registry import KERNELS
from mercer.kernels import Kernel
from mercer.testing.examples import examples_of

A, B = kernels.Linear(), kernels.RBF(gamma=0.5)
EXAMPLES = [kernel for entry in KERNELS.values() for kernel in examples_of(entry.load())]
GAUSSIAN = r"\exp\left(-0.5\,\left\lVert x - z \right\rVert^2\right)"


@pytest.mark.parametrize(
    ("kernel", "latex"),
    [
        (A, r"x^\top z"),
        (B, GAUSSIAN),
        (kernels.RBF(), GAUSSIAN.replace("0.5", r"\gamma")),
        (kernels.RBF(gamma=1.0), GAUSSIAN.replace(r"0.5\,", "")),
        (kernels.RBF(gamma=2.5e-7), GAUSSIAN.replace("0.5", r"2.5 \cdot 10^{-7}")),
        (kernels.RBF(gamma=0.5, over=A), r"\exp\left(-0.5\,\left(x^\top x + z^\top z - 2\,x^\top z\right)\right)"),
        (kernels.Polynomial(degree=3, gamma=0.5, coef0=0.0), r"\left(0.5\,x^\top z\right)^{3}"),
        (A + 2.0 * B, rf"x^\top z + 2\,{GAUSSIAN}"),
        ((A + B) * A, rf"\left(x^\top z + {GAUSSIAN}\right) \cdot x^\top z"),
        (2.0 * (A + B), rf"2\,\left(x^\top z + {GAUSSIAN}\right)"),
        (A**2, r"\left(x^\top z\right)^{2}"),
        (A + 1.5, r"x^\top z + 1.5"),
        (kernels.exp(A), r"\exp\left(x^\top z\right)"),
        (kernels.PolynomialOf(A, (1, 0, 2, 1)), r"1 + 2\,\left(x^\top z\right)^{2} + \left(x^\top z\right)^{3}"),
        (kernels.normalise(A), r"\frac{x^\top z}{\sqrt{x^\top x \cdot z^\top z}}"),
        (kernels.centre(A), r"\operatorname{centre}\left[x^\top z\right]"),
        (kernels.pull_back(A, len), r"\varphi(x)^\top \varphi(z)"),
        (kernels.rank_one(len), r"f(x)\,f(z)"),
        (kernels.on("my_col", A), r"{x}_{\mathrm{my\_col}}^\top {z}_{\mathrm{my\_col}}"),
        (kernels.on("a$b}\\", A), r"{x}_{\mathrm{a?b??}}^\top {z}_{\mathrm{a?b??}}"),
        (kernels.Spectrum(p=4), r"\mathrm{spectrum}_{\mathrm{p} = 4}(x, z)"),
        (kernels.dag([("s", "t", A)]), r"\sum_{p \colon \mathrm{s} \to \mathrm{t}} \prod_{e \in p} k_e(x, z)"),
    ],
)
def test_formula(kernel: Kernel, latex: str) -> None:
    assert kernel.latex() == latex
    assert kernel._repr_latex_() == f"${latex}$"


@pytest.mark.parametrize("kernel", EXAMPLES, ids=str)
def test_every_registered_kernel_has_a_formula_and_a_proof(kernel: Kernel) -> None:
    latex = kernel._repr_latex_()
    for left, right in ("{}", "()", "[]"):
        assert latex.count(left) == latex.count(right)
    assert "<" not in latex
    assert ("not proven" in kernel.derivation()) is not kernel.psd


def test_nested_formulas_do_not_explode() -> None:
    kernel: Kernel = A
    for _ in range(40):
        kernel = kernels.normalise(kernels.RBF(gamma=0.5, over=kernel))
    assert len(kernel.latex()) < 10_000


def test_derivation_is_the_tree_of_rules() -> None:
    found = (kernels.normalise(A**2) + kernels.exp(B)).derivation()
    assert found.splitlines() == [
        "Sum: PSD because it puts the features of its terms side by side, and these are PSD:",
        "  Normalised: PSD because it divides the features of the kernel by their length, and this is PSD:",
        "    Power: PSD because its features are all products of that many features of the kernel, and this is PSD:",
        "      Linear: PSD because it is an inner product of features",
        "  ExpOf: PSD because it is a power series of the kernel with positive coefficients, and this is PSD:",
        "    RBF: PSD because it is a Gaussian of a Hilbertian distance",
    ]


def test_derivation_says_where_the_proof_fails() -> None:
    found = (A * kernels.FromFunction(lambda x, z: 1.0)).derivation()
    assert found.splitlines() == [
        "Product: not proven PSD, because it would need that these are PSD:",
        "  Linear: PSD because it is an inner product of features",
        "  FromFunction: not proven PSD: no rule covers it, so every Gram matrix has to be checked",
    ]
