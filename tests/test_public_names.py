"""The public names, pinned: adding or dropping one is a decision, not an accident."""

import importlib
import importlib.util

import pytest

import mercer
import mercer.kernels
import mercer.testing

TOP = [
    "GradientKernelMachine",
    "KernelCCA",
    "KernelFisherDiscriminant",
    "KernelKMeans",
    "KernelPCA",
    "KernelPerceptron",
    "PrimalPerceptron",
    "SpectralClustering",
    "SubgradientSVM",
    "hsic_test",
    "mmd_test",
    "KernelLogisticRegression",
    "KernelMachineClassifier",
    "KernelMachineRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "SVC",
    "SVR",
    "__version__",
    "kernels",
    "load",
    "save",
]
KERNELS = [
    "ANOVA",
    "AdditiveChi2",
    "AllSubsets",
    "Bilinear",
    "Categorical",
    "Centred",
    "Constant",
    "DagKernel",
    "ExpOf",
    "Exponential",
    "ExponentialChi2",
    "FittedKernel",
    "FromBlocks",
    "FromFunction",
    "HistogramIntersection",
    "IntervalAgreement",
    "IntervalMin",
    "IntervalUnionComplement",
    "Kernel",
    "Laplacian",
    "Linear",
    "Matern",
    "MinMax",
    "Normalised",
    "OnColumns",
    "Periodic",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "PullBack",
    "RBF",
    "RandomFourierFeatures",
    "Randomised",
    "RankOne",
    "RationalQuadratic",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Spline",
    "Sum",
    "Tanimoto",
    "Tent",
    "centre",
    "dag",
    "exp",
    "normalise",
    "on",
    "parse",
    "pull_back",
    "rank_one",
]
TESTING = [
    "Check",
    "check_kernel",
    "check_loss",
    "check_solver",
    "check_structured_estimator",
    "kernel_checks",
    "kkt_violation",
    "loss_checks",
    "objects_for",
    "solver_checks",
    "structured_estimator_checks",
]


DOORS = [("mercer", TOP), ("mercer.kernels", KERNELS), ("mercer.testing", TESTING)]


@pytest.mark.parametrize(("module", "names"), DOORS)
def test_names(module, names):
    door = importlib.import_module(module)
    assert sorted(door.__all__) == sorted(names)
    assert sorted(dir(door)) == sorted(names)


@pytest.mark.parametrize(("module", "name"), [(module, name) for module, names in DOORS for name in names])
def test_every_name_loads(module, name):
    home = getattr(importlib.import_module(module), "_HOMES", {}).get(name, module)
    if importlib.util.find_spec(home) is None:
        pytest.skip(f"{home} is not part of this tree")
    assert getattr(importlib.import_module(module), name) is not None


@pytest.mark.parametrize("module", [mercer, mercer.kernels, mercer.testing])
def test_unknown_names(module):
    with pytest.raises(AttributeError, match=f"module '{module.__name__}' has no attribute 'Nonsense'"):
        module.Nonsense  # noqa: B018
