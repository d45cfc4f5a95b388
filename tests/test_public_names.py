"""The public names, pinned: adding or dropping one is a decision, not an accident."""

import importlib
import importlib.util

import pytest

import mercer
import mercer.kernels
import mercer.testing

TOP = [
    "Cells",
    "GradientKernelMachine",
    "KernelCCA",
    "KernelFisherDiscriminant",
    "KernelKMeans",
    "KernelLogisticRegression",
    "KernelMachineClassifier",
    "KernelMachineRegressor",
    "KernelPCA",
    "KernelPerceptron",
    "KernelQuantileRegressor",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelSearchCV",
    "LinearSVC",
    "LinearSVR",
    "MultipleKernelMachine",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PrimalPerceptron",
    "SVC",
    "SVR",
    "SpectralClustering",
    "SubgradientSVM",
    "__version__",
    "alignment",
    "blocks",
    "centred_alignment",
    "certify_kernel",
    "check_mercer",
    "compare",
    "datasets",
    "diagnose",
    "feature_vectors",
    "fit",
    "hsic_test",
    "indexed",
    "kernel_target_alignment",
    "kernels",
    "learn_kernel",
    "load",
    "losses",
    "mmd_test",
    "nested_cross_validate",
    "plots",
    "save",
    "shared",
    "testing",
]
KERNELS = [
    "ANOVA",
    "AdditiveChi2",
    "AllSubsequences",
    "AllSubsets",
    "AllSubtree",
    "ArcCosineFeatures",
    "Bilinear",
    "BlendedSpectrum",
    "Categorical",
    "Centred",
    "CharacterWeighted",
    "CoRootedSubtree",
    "CommuteTime",
    "Constant",
    "DagKernel",
    "DerivedSubsets",
    "DynamicTimeWarping",
    "EdgeHistogram",
    "ExpOf",
    "Exponential",
    "ExponentialChi2",
    "ExponentialDiffusion",
    "FittedKernel",
    "FixedLengthHMM",
    "FixedLengthSubsequences",
    "FromBlocks",
    "FromFunction",
    "GapNumberWeighted",
    "GapWeighted",
    "GappedKmer",
    "GaussianMixtureFisher",
    "GlobalAlignment",
    "Graphlet",
    "HMMFisher",
    "Heat",
    "HiddenTree",
    "HistogramIntersection",
    "IntervalAgreement",
    "IntervalMin",
    "IntervalUnionComplement",
    "Kernel",
    "LabelledSubMultisets",
    "Laplacian",
    "LaplacianFeatures",
    "LatentSemantic",
    "Linear",
    "LocalAlignment",
    "LogLocalAlignment",
    "MarkovFisher",
    "Matern",
    "MaternFeatures",
    "MeanEmbedding",
    "MinMax",
    "Mismatch",
    "MultisetDot",
    "MultisetIntersection",
    "MultisetMinMax",
    "Normalised",
    "Nystrom",
    "OnColumns",
    "PairHMM",
    "PartialTree",
    "Periodic",
    "Polynomial",
    "PolynomialOf",
    "Power",
    "Precomputed",
    "Product",
    "PullBack",
    "RBF",
    "RandomFourierFeatures",
    "RandomWalk",
    "Randomised",
    "RankOne",
    "RationalQuadratic",
    "RegularisedLaplacian",
    "Remembered",
    "RestrictedGapWeighted",
    "Scaled",
    "SetAgreement",
    "SetIntersection",
    "SetTanimoto",
    "SetUnionComplement",
    "ShortestPath",
    "Sigmoid",
    "SoftMatching",
    "Spectrum",
    "Spline",
    "SubMultisetCount",
    "SubsetCount",
    "SubsetTree",
    "Subtree",
    "Sum",
    "Tanimoto",
    "Tent",
    "VectorSpace",
    "VertexHistogram",
    "VonNeumannDiffusion",
    "WeightedDegree",
    "WeisfeilerLehman",
    "WeisfeilerLehmanOptimalAssignment",
    "WeisfeilerLehmanOver",
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


PLOTS = [
    "EigenvalueDisplay",
    "FeatureSpaceDisplay",
    "GraphExplanationDisplay",
    "KernelMatrixDisplay",
    "KernelTrickDisplay",
    "MarginDisplay",
    "SequenceExplanationDisplay",
    "SupportDisplay",
    "TraceDisplay",
    "ValidationSurfaceDisplay",
]


DOORS = [("mercer", TOP), ("mercer.kernels", KERNELS), ("mercer.plots", PLOTS), ("mercer.testing", TESTING)]


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
