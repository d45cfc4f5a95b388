"""The registry of all classes by name, without importing them.

Help, the text form of kernels, model files and the conformance suites all read these tables, so a new kernel or loss
is one new file plus one line here, and a new estimator is one new file plus one line in `mercer/__init__.pyi`. Nothing
heavy is imported until a class is requested.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from mercer._check import did_you_mean
from mercer._public import homes
from mercer.errors import ParameterError


@dataclass(frozen=True)
class Entry:
    """One registered class: its module, its name in expressions, and one line about it.

    Estimators have only a class, and neither name nor line.
    """

    module: str
    name: str
    text: str = ""
    summary: str = ""

    def load(self) -> Any:
        return getattr(importlib.import_module(self.module), self.name)


def _table(*rows: tuple[str, str, str, str]) -> dict[str, Entry]:
    return {name: Entry(module, name, text, summary) for module, name, text, summary in rows}


KERNELS = _table(
    ("mercer.kernels.vectors.linear", "Linear", "linear", "the dot product x'z"),
    ("mercer.kernels.vectors.polynomial", "Polynomial", "poly", "(gamma x'z + coef0)^degree"),
    ("mercer.kernels.vectors.rbf", "RBF", "rbf", "Gaussian: exp(-gamma |x - z|^2), on vectors or over any kernel"),
    ("mercer.kernels.vectors.linear", "Bilinear", "bilinear", "x'Bz, with B symmetric positive semi-definite"),
    (
        "mercer.kernels.vectors.anova",
        "AllSubsets",
        "all_subsets",
        "products over every subset of the coordinates",
    ),
    ("mercer.kernels.vectors.anova", "ANOVA", "anova", "products of `degree` different coordinates"),
    ("mercer.kernels.vectors.stationary", "Laplacian", "laplacian", "exp(-gamma sum |x - z|)"),
    ("mercer.kernels.vectors.stationary", "Exponential", "exponential", "exp(-gamma |x - z|)"),
    ("mercer.kernels.vectors.stationary", "Matern", "matern", "nu = 1/2, 3/2 or 5/2: rougher than the Gaussian"),
    (
        "mercer.kernels.vectors.stationary",
        "RationalQuadratic",
        "rational_quadratic",
        "a mixture of Gaussians of all widths",
    ),
    (
        "mercer.kernels.vectors.stationary",
        "Periodic",
        "periodic",
        "exp(-2 sum sin^2(pi (x - z) / period) / length_scale^2)",
    ),
    (
        "mercer.kernels.vectors.stationary",
        "ExponentialChi2",
        "exponential_chi2",
        "exp(-gamma chi2(x, z)), for histograms",
    ),
    ("mercer.kernels.vectors.histograms", "AdditiveChi2", "additive_chi2", "sum 2 x z / (x + z), for histograms"),
    (
        "mercer.kernels.vectors.histograms",
        "HistogramIntersection",
        "histogram_intersection",
        "sum min(x, z), for histograms",
    ),
    ("mercer.kernels.vectors.histograms", "Tanimoto", "tanimoto", "x'z / (|x|^2 + |z|^2 - x'z), for bits and counts"),
    ("mercer.kernels.vectors.histograms", "MinMax", "minmax", "sum min(x, z) / sum max(x, z), for counts"),
    ("mercer.kernels.vectors.linear", "Sigmoid", "sigmoid", "tanh(gamma x'z + coef0), not positive semi-definite"),
    ("mercer.kernels.vectors.spline", "Spline", "spline", "splines of a given order, with knots everywhere or given"),
    ("mercer.kernels.vectors.intervals", "IntervalMin", "interval_min", "min(x, z) - lower, of numbers"),
    (
        "mercer.kernels.vectors.intervals",
        "IntervalUnionComplement",
        "interval_union_complement",
        "upper - max(x, z), of numbers",
    ),
    (
        "mercer.kernels.vectors.intervals",
        "IntervalAgreement",
        "interval_agreement",
        "(upper - lower) - |x - z|, of numbers",
    ),
    ("mercer.kernels.vectors.intervals", "Tent", "tent", "max(0, 2 half_width - |x - z|), of numbers"),
    (
        "mercer.kernels.vectors.randomised",
        "Randomised",
        "randomised",
        "the average of f(x) f(z) over your own random functions",
    ),
    (
        "mercer.kernels.vectors.randomised",
        "RandomFourierFeatures",
        "random_fourier",
        "the Gaussian by a random sample of waves",
    ),
    (
        "mercer.kernels.vectors.random_directions",
        "LaplacianFeatures",
        "laplacian_features",
        "the Laplacian by a random sample of waves",
    ),
    (
        "mercer.kernels.vectors.random_directions",
        "MaternFeatures",
        "matern_features",
        "Matern by a random sample of waves",
    ),
    (
        "mercer.kernels.vectors.random_directions",
        "ArcCosineFeatures",
        "arc_cosine_features",
        "a layer of random neurons: the arc-cosine kernel in the mean",
    ),
    ("mercer.kernels.vectors.categorical", "Categorical", "categorical", "the share of columns with the same category"),
    ("mercer.kernels.strings.spectrum", "Spectrum", "spectrum", "counts of shared substrings of length p"),
    (
        "mercer.kernels.strings.spectrum",
        "BlendedSpectrum",
        "blended_spectrum",
        "counts of shared substrings up to length p",
    ),
    ("mercer.kernels.strings.mismatch", "Mismatch", "mismatch", "counts of words within m mismatches"),
    ("mercer.kernels.strings.gapped", "GappedKmer", "gapped_kmer", "windows compared on every choice of k of l places"),
    (
        "mercer.kernels.strings.subsequences",
        "FixedLengthSubsequences",
        "subsequences",
        "counts of subsequences of length p",
    ),
    (
        "mercer.kernels.strings.subsequences",
        "GapWeighted",
        "gap_weighted",
        "subsequences of length p, faded by their span",
    ),
    (
        "mercer.kernels.strings.subsequences",
        "GapNumberWeighted",
        "gap_number",
        "subsequences of length p, weighted by their gaps",
    ),
    (
        "mercer.kernels.strings.long_range",
        "AllSubsequences",
        "all_subsequences",
        "counts of subsequences of any length",
    ),
    (
        "mercer.kernels.strings.subsequences",
        "CharacterWeighted",
        "character_weighted",
        "subsequences that pay by symbol",
    ),
    ("mercer.kernels.strings.subsequences", "SoftMatching", "soft_matching", "subsequences that match by similarity"),
    (
        "mercer.kernels.strings.restricted",
        "RestrictedGapWeighted",
        "restricted_gaps",
        "subsequences that skip at most m",
    ),
    ("mercer.kernels.strings.local_alignment", "LocalAlignment", "local_alignment", "sum over all local alignments"),
    ("mercer.kernels.strings.local_alignment", "LogLocalAlignment", "log_local_alignment", "its logarithm: indefinite"),
    ("mercer.kernels.strings.weighted_degree", "WeightedDegree", "weighted_degree", "words at the same place"),
    ("mercer.kernels.sets.measure", "SetIntersection", "set_intersection", "how much two sets share"),
    ("mercer.kernels.sets.measure", "SetUnionComplement", "set_union_complement", "how much two sets both lack"),
    ("mercer.kernels.sets.measure", "SetAgreement", "set_agreement", "on how much two sets agree"),
    ("mercer.kernels.sets.multisets", "SubsetCount", "subset_count", "the number of common subsets"),
    ("mercer.kernels.sets.multisets", "SetTanimoto", "set_tanimoto", "the share of common elements"),
    ("mercer.kernels.sets.multisets", "MultisetDot", "multiset_dot", "the dot product of multiplicities"),
    (
        "mercer.kernels.sets.multisets",
        "MultisetIntersection",
        "multiset_intersection",
        "the sum of smaller multiplicities",
    ),
    ("mercer.kernels.sets.multisets", "MultisetMinMax", "multiset_minmax", "smaller over larger multiplicities"),
    ("mercer.kernels.sets.multisets", "SubMultisetCount", "sub_multisets", "the number of common sub-multisets"),
    ("mercer.kernels.sets.multisets", "LabelledSubMultisets", "labelled_sub_multisets", "the same of labelled copies"),
    (
        "mercer.kernels.sets.derived",
        "DerivedSubsets",
        "derived_subsets",
        "the sum of a kernel over all pairs of elements",
    ),
    ("mercer.kernels.sets.derived", "MeanEmbedding", "mean_embedding", "its mean: bags as samples of a distribution"),
    (
        "mercer.kernels.graphs.weisfeiler_lehman",
        "WeisfeilerLehman",
        "wl",
        "counts of shared neighbourhoods of depth 0..h",
    ),
    ("mercer.kernels.graphs.weisfeiler_lehman", "WeisfeilerLehmanOver", "wl_over", "any kernel on refined labels"),
    (
        "mercer.kernels.graphs.weisfeiler_lehman",
        "WeisfeilerLehmanOptimalAssignment",
        "wl_oa",
        "best matching of nodes",
    ),
    ("mercer.kernels.graphs.shortest_path", "ShortestPath", "shortest_path", "counts of labelled shortest paths"),
    ("mercer.kernels.graphs.graphlet", "Graphlet", "graphlet", "frequencies of induced subgraphs of 3, 4 or 5 nodes"),
    ("mercer.kernels.graphs.random_walk", "RandomWalk", "random_walk", "pairs of walks that match"),
    ("mercer.kernels.graphs.histograms", "VertexHistogram", "vertex_histogram", "counts of node labels"),
    ("mercer.kernels.graphs.histograms", "EdgeHistogram", "edge_histogram", "counts of edge labels"),
    (
        "mercer.kernels.graphs.nodes",
        "ExponentialDiffusion",
        "exponential_diffusion",
        "nodes of a graph: exp(decay B)",
    ),
    ("mercer.kernels.graphs.nodes", "VonNeumannDiffusion", "von_neumann_diffusion", "nodes: (I - decay B)^-1"),
    ("mercer.kernels.graphs.nodes", "Heat", "heat", "nodes of a graph: exp(-time L)"),
    (
        "mercer.kernels.graphs.nodes",
        "RegularisedLaplacian",
        "regularised_laplacian",
        "(I + strength L)^-1",
    ),
    ("mercer.kernels.graphs.nodes", "CommuteTime", "commute_time", "nodes of a graph: pseudo-inverse of L"),
    (
        "mercer.kernels.trees.fragments",
        "CoRootedSubtree",
        "corooted_subtree",
        "fragments that two trees share at the root",
    ),
    ("mercer.kernels.trees.fragments", "AllSubtree", "all_subtree", "fragments that two trees share anywhere"),
    ("mercer.kernels.trees.fragments", "SubsetTree", "subset_tree", "shared fragments of productions (Collins, Duffy)"),
    ("mercer.kernels.trees.subtree", "Subtree", "subtree", "shared complete subtrees"),
    ("mercer.kernels.trees.partial", "PartialTree", "partial_tree", "shared partial trees (Moschitti)"),
    (
        "mercer.kernels.series.global_alignment",
        "GlobalAlignment",
        "global_alignment",
        "time series: sum over all alignments",
    ),
    ("mercer.kernels.series.warping", "DynamicTimeWarping", "dtw", "time series: exp(-gamma DTW), indefinite"),
    (
        "mercer.kernels.documents.vector_space",
        "VectorSpace",
        "vector_space",
        "documents: counts of shared terms, tf-idf",
    ),
    (
        "mercer.kernels.documents.latent_semantic",
        "LatentSemantic",
        "latent_semantic",
        "any kernel through its leading directions in training",
    ),
    ("mercer.kernels.algebra.nystrom", "Nystrom", "nystrom", "any kernel through a few landmarks: for many objects"),
    (
        "mercer.kernels.generative.hidden_states",
        "FixedLengthHMM",
        "fixed_length_hmm",
        "strings of one length under a hidden Markov model",
    ),
    ("mercer.kernels.generative.hidden_states", "HiddenTree", "hidden_tree", "labels of one tree under hidden states"),
    ("mercer.kernels.generative.markov_fisher", "MarkovFisher", "markov_fisher", "scores of a Markov chain"),
    ("mercer.kernels.generative.hmm_fisher", "HMMFisher", "hmm_fisher", "scores of a hidden Markov model"),
    (
        "mercer.kernels.generative.mixture_fisher",
        "GaussianMixtureFisher",
        "gaussian_mixture_fisher",
        "scores of a mixture of Gaussians",
    ),
    ("mercer.kernels.generative.pair_hmm", "PairHMM", "pair_hmm", "the probability of emitting two strings together"),
    ("mercer.kernels.precomputed", "Precomputed", "precomputed", "a Gram matrix that you computed yourself"),
    ("mercer.kernels.user", "FromBlocks", "from_blocks", "your function of two batches, returning a block"),
    ("mercer.kernels.user", "FromFunction", "from_function", "your function of two objects, returning a number"),
    ("mercer.kernels.algebra.images", "OnColumns", "on", "a kernel on chosen columns of a table"),
    ("mercer.kernels.algebra.sums", "Sum", "sum", "k1 + k2"),
    ("mercer.kernels.algebra.sums", "Product", "product", "k1 * k2"),
    ("mercer.kernels.algebra.sums", "Scaled", "scaled", "c k, with c > 0"),
    ("mercer.kernels.algebra.functions", "Power", "power", "k^d, with a whole d"),
    ("mercer.kernels.algebra.functions", "ExpOf", "exp", "exp(k)"),
    (
        "mercer.kernels.algebra.functions",
        "PolynomialOf",
        "polynomial_of",
        "c0 + c1 k + c2 k^2 + ..., with all c >= 0",
    ),
    ("mercer.kernels.algebra.constant", "Constant", "constant", "the same value for every pair"),
    ("mercer.kernels.algebra.normalised", "Normalised", "normalise", "cosine: k(x, z) / sqrt(k(x, x) k(z, z))"),
    ("mercer.kernels.algebra.centred", "Centred", "centre", "k around the mean of the training objects"),
    ("mercer.kernels.algebra.images", "PullBack", "pull_back", "k(phi(x), phi(z)), phi a function or a transformer"),
    ("mercer.kernels.algebra.images", "RankOne", "rank_one", "f(x) f(z), f a function of yours"),
    ("mercer.kernels.algebra.dag", "DagKernel", "dag", "products of kernels, added up over the paths of a graph"),
)

INPUTS = _table(
    ("mercer.inputs.vectors", "Vectors", "vectors", "rows of numbers, dense or CSR"),
    ("mercer.inputs.categories", "Categories", "categories", "rows of categories: text, numbers or booleans"),
    ("mercer.inputs.strings", "Strings", "strings", "strings of characters, or sequences of tokens"),
    ("mercer.inputs.series", "Series", "series", "time series of any lengths, of one or several channels"),
    ("mercer.inputs.sets", "Sets", "sets", "sets and multisets of hashable elements"),
    ("mercer.inputs.bags", "Bags", "bags", "finite sets of objects of another kind"),
    ("mercer.inputs.graphs", "Graphs", "graphs", "graphs with labels, weights and attributes"),
    ("mercer.inputs.nodes", "Nodes", "nodes", "nodes of one graph, by number"),
    ("mercer.inputs.trees", "Trees", "trees", "ordered trees with labels"),
    ("mercer.inputs.tables", "Table", "table", "named columns of any kinds"),
    ("mercer.inputs.items", "Items", "items", "any Python objects, for user kernels"),
    ("mercer.inputs.gram_rows", "GramRows", "gram_rows", "rows of a precomputed Gram matrix"),
)

LOSSES = _table(
    ("mercer.losses.hinge", "Hinge", "hinge", "max(0, 1 - y f)"),
    ("mercer.losses.squared_hinge", "SquaredHinge", "squared_hinge", "max(0, 1 - y f)^2"),
    ("mercer.losses.smooth_hinge", "SmoothHinge", "smooth_hinge", "log(1 + exp(1 - y f))"),
    ("mercer.losses.logistic", "Logistic", "logistic", "log(1 + exp(-y f))"),
    ("mercer.losses.multinomial", "Multinomial", "multinomial", "log sum_k exp(f_k) - f_y"),
    ("mercer.losses.perceptron", "PerceptronLoss", "perceptron", "max(0, -y f)"),
    ("mercer.losses.squared", "Squared", "squared", "(y - f)^2 / 2"),
    ("mercer.losses.epsilon_insensitive", "EpsilonInsensitive", "epsilon_insensitive", "max(0, |y - f| - epsilon)"),
    (
        "mercer.losses.squared_epsilon",
        "SquaredEpsilonInsensitive",
        "squared_epsilon_insensitive",
        "max(0, |y - f| - epsilon)^2",
    ),
    ("mercer.losses.huber", "Huber", "huber", "quadratic within delta, linear beyond"),
    ("mercer.losses.quantile", "Quantile", "quantile", "tau r above, (1 - tau) |r| below"),
)

ESTIMATORS = {
    name: Entry(module, name)
    for name, module in homes("mercer").items()
    if module.startswith(("mercer.estimators.", "mercer.lectures."))
}
"""Every public learner: those that the stub of the package lists."""

MODELS = ESTIMATORS | {
    "MultipleKernelMachine": Entry("mercer.selection.multiple", "MultipleKernelMachine"),
    "Cells": Entry("mercer.selection.cells", "Cells"),
    "TrainedModel": Entry("mercer.jobs.trained", "TrainedModel"),
}
"""The classes in model files: learners, machines with learnt kernels, and models that can read files like those they
were trained on."""


def find(table: dict[str, Entry], name: str, what: str) -> Entry:
    """The entry called `name` (class name or text name), or an error that suggests the nearest."""
    if name in table:
        return table[name]
    by_text = {entry.text: entry for entry in table.values()}
    if name in by_text:
        return by_text[name]
    names = sorted(by_text)
    raise ParameterError(f"Unknown {what} {name!r}. {did_you_mean(name, [*names, *table])} Known: {', '.join(names)}.")


LAZY = Entry("mercer.cluster.lazy", "blocks_of", summary="the partitions of a Dask collection as blocks")


_VALUES = Entry("mercer.cluster.lazy", "in_memory", summary="lazy targets or weights, as an array")


_ANSWERS = Entry("mercer.cluster.lazy_answers", "answered", summary="what models say of lazy data")


def lazy_answer(model: Any, method: str, X: Any, example: Any) -> Any:
    """The lazy result of a method of a fitted model for lazy data; `example` is its result for one object."""
    return _ANSWERS.load()(model, method, X, example)


def in_memory(values: Any) -> Any:
    """Targets or weights, computed if they are lazy."""
    return _VALUES.load()(values) if is_lazy(values) else values


def is_lazy(data: Any) -> bool:
    """Whether these are lazy data of Dask, which are computed on demand, possibly on a cluster."""
    return type(data).__module__.partition(".")[0] in ("dask", "dask_expr") and hasattr(data, "__dask_graph__")
