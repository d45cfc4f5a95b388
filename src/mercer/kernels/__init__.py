"""All kernels in one flat namespace, loaded on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from mercer._registry import KERNELS

if TYPE_CHECKING:
    from mercer.kernels.algebra.centred import Centred as Centred
    from mercer.kernels.algebra.centred import centre as centre
    from mercer.kernels.algebra.constant import Constant as Constant
    from mercer.kernels.algebra.dag import DagKernel as DagKernel
    from mercer.kernels.algebra.dag import dag as dag
    from mercer.kernels.algebra.functions import ExpOf as ExpOf
    from mercer.kernels.algebra.functions import PolynomialOf as PolynomialOf
    from mercer.kernels.algebra.functions import Power as Power
    from mercer.kernels.algebra.functions import exp as exp
    from mercer.kernels.algebra.images import OnColumns as OnColumns
    from mercer.kernels.algebra.images import PullBack as PullBack
    from mercer.kernels.algebra.images import RankOne as RankOne
    from mercer.kernels.algebra.images import on as on
    from mercer.kernels.algebra.images import pull_back as pull_back
    from mercer.kernels.algebra.images import rank_one as rank_one
    from mercer.kernels.algebra.normalised import Normalised as Normalised
    from mercer.kernels.algebra.normalised import normalise as normalise
    from mercer.kernels.algebra.nystrom import Nystrom as Nystrom
    from mercer.kernels.algebra.sums import Product as Product
    from mercer.kernels.algebra.sums import Scaled as Scaled
    from mercer.kernels.algebra.sums import Sum as Sum
    from mercer.kernels.base import FittedKernel as FittedKernel
    from mercer.kernels.base import Kernel as Kernel
    from mercer.kernels.documents.latent_semantic import LatentSemantic as LatentSemantic
    from mercer.kernels.documents.vector_space import VectorSpace as VectorSpace
    from mercer.kernels.generative.hidden_states import FixedLengthHMM as FixedLengthHMM
    from mercer.kernels.generative.hidden_states import HiddenTree as HiddenTree
    from mercer.kernels.generative.hmm_fisher import HMMFisher as HMMFisher
    from mercer.kernels.generative.markov_fisher import MarkovFisher as MarkovFisher
    from mercer.kernels.generative.mixture_fisher import GaussianMixtureFisher as GaussianMixtureFisher
    from mercer.kernels.generative.pair_hmm import PairHMM as PairHMM
    from mercer.kernels.graphs.graphlet import Graphlet as Graphlet
    from mercer.kernels.graphs.histograms import EdgeHistogram as EdgeHistogram
    from mercer.kernels.graphs.histograms import VertexHistogram as VertexHistogram
    from mercer.kernels.graphs.nodes import CommuteTime as CommuteTime
    from mercer.kernels.graphs.nodes import ExponentialDiffusion as ExponentialDiffusion
    from mercer.kernels.graphs.nodes import Heat as Heat
    from mercer.kernels.graphs.nodes import RegularisedLaplacian as RegularisedLaplacian
    from mercer.kernels.graphs.nodes import VonNeumannDiffusion as VonNeumannDiffusion
    from mercer.kernels.graphs.random_walk import RandomWalk as RandomWalk
    from mercer.kernels.graphs.shortest_path import ShortestPath as ShortestPath
    from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehman as WeisfeilerLehman
    from mercer.kernels.graphs.weisfeiler_lehman import (
        WeisfeilerLehmanOptimalAssignment as WeisfeilerLehmanOptimalAssignment,
    )
    from mercer.kernels.graphs.weisfeiler_lehman import WeisfeilerLehmanOver as WeisfeilerLehmanOver
    from mercer.kernels.memory.remembered import Remembered as Remembered
    from mercer.kernels.precomputed import Precomputed as Precomputed
    from mercer.kernels.series.global_alignment import GlobalAlignment as GlobalAlignment
    from mercer.kernels.series.warping import DynamicTimeWarping as DynamicTimeWarping
    from mercer.kernels.sets.derived import DerivedSubsets as DerivedSubsets
    from mercer.kernels.sets.derived import MeanEmbedding as MeanEmbedding
    from mercer.kernels.sets.measure import SetAgreement as SetAgreement
    from mercer.kernels.sets.measure import SetIntersection as SetIntersection
    from mercer.kernels.sets.measure import SetUnionComplement as SetUnionComplement
    from mercer.kernels.sets.multisets import LabelledSubMultisets as LabelledSubMultisets
    from mercer.kernels.sets.multisets import MultisetDot as MultisetDot
    from mercer.kernels.sets.multisets import MultisetIntersection as MultisetIntersection
    from mercer.kernels.sets.multisets import MultisetMinMax as MultisetMinMax
    from mercer.kernels.sets.multisets import SetTanimoto as SetTanimoto
    from mercer.kernels.sets.multisets import SubMultisetCount as SubMultisetCount
    from mercer.kernels.sets.multisets import SubsetCount as SubsetCount
    from mercer.kernels.strings.gapped import GappedKmer as GappedKmer
    from mercer.kernels.strings.local_alignment import LocalAlignment as LocalAlignment
    from mercer.kernels.strings.local_alignment import LogLocalAlignment as LogLocalAlignment
    from mercer.kernels.strings.long_range import AllSubsequences as AllSubsequences
    from mercer.kernels.strings.mismatch import Mismatch as Mismatch
    from mercer.kernels.strings.restricted import RestrictedGapWeighted as RestrictedGapWeighted
    from mercer.kernels.strings.spectrum import BlendedSpectrum as BlendedSpectrum
    from mercer.kernels.strings.spectrum import Spectrum as Spectrum
    from mercer.kernels.strings.subsequences import CharacterWeighted as CharacterWeighted
    from mercer.kernels.strings.subsequences import FixedLengthSubsequences as FixedLengthSubsequences
    from mercer.kernels.strings.subsequences import GapNumberWeighted as GapNumberWeighted
    from mercer.kernels.strings.subsequences import GapWeighted as GapWeighted
    from mercer.kernels.strings.subsequences import SoftMatching as SoftMatching
    from mercer.kernels.strings.weighted_degree import WeightedDegree as WeightedDegree
    from mercer.kernels.text.expression import parse as parse
    from mercer.kernels.trees.fragments import AllSubtree as AllSubtree
    from mercer.kernels.trees.fragments import CoRootedSubtree as CoRootedSubtree
    from mercer.kernels.trees.fragments import SubsetTree as SubsetTree
    from mercer.kernels.trees.partial import PartialTree as PartialTree
    from mercer.kernels.trees.subtree import Subtree as Subtree
    from mercer.kernels.user import FromBlocks as FromBlocks
    from mercer.kernels.user import FromFunction as FromFunction
    from mercer.kernels.vectors.anova import ANOVA as ANOVA
    from mercer.kernels.vectors.anova import AllSubsets as AllSubsets
    from mercer.kernels.vectors.categorical import Categorical as Categorical
    from mercer.kernels.vectors.histograms import AdditiveChi2 as AdditiveChi2
    from mercer.kernels.vectors.histograms import HistogramIntersection as HistogramIntersection
    from mercer.kernels.vectors.histograms import MinMax as MinMax
    from mercer.kernels.vectors.histograms import Tanimoto as Tanimoto
    from mercer.kernels.vectors.intervals import IntervalAgreement as IntervalAgreement
    from mercer.kernels.vectors.intervals import IntervalMin as IntervalMin
    from mercer.kernels.vectors.intervals import IntervalUnionComplement as IntervalUnionComplement
    from mercer.kernels.vectors.intervals import Tent as Tent
    from mercer.kernels.vectors.linear import Bilinear as Bilinear
    from mercer.kernels.vectors.linear import Linear as Linear
    from mercer.kernels.vectors.linear import Sigmoid as Sigmoid
    from mercer.kernels.vectors.polynomial import Polynomial as Polynomial
    from mercer.kernels.vectors.random_directions import ArcCosineFeatures as ArcCosineFeatures
    from mercer.kernels.vectors.random_directions import LaplacianFeatures as LaplacianFeatures
    from mercer.kernels.vectors.random_directions import MaternFeatures as MaternFeatures
    from mercer.kernels.vectors.randomised import RandomFourierFeatures as RandomFourierFeatures
    from mercer.kernels.vectors.randomised import Randomised as Randomised
    from mercer.kernels.vectors.rbf import RBF as RBF
    from mercer.kernels.vectors.spline import Spline as Spline
    from mercer.kernels.vectors.stationary import Exponential as Exponential
    from mercer.kernels.vectors.stationary import ExponentialChi2 as ExponentialChi2
    from mercer.kernels.vectors.stationary import Laplacian as Laplacian
    from mercer.kernels.vectors.stationary import Matern as Matern
    from mercer.kernels.vectors.stationary import Periodic as Periodic
    from mercer.kernels.vectors.stationary import RationalQuadratic as RationalQuadratic

_FUNCTIONS = {
    "Kernel": "mercer.kernels.base",
    "FittedKernel": "mercer.kernels.base",
    "centre": "mercer.kernels.algebra.centred",
    "dag": "mercer.kernels.algebra.dag",
    "exp": "mercer.kernels.algebra.functions",
    "normalise": "mercer.kernels.algebra.normalised",
    "Remembered": "mercer.kernels.memory.remembered",
    "on": "mercer.kernels.algebra.images",
    "parse": "mercer.kernels.text.expression",
    "pull_back": "mercer.kernels.algebra.images",
    "rank_one": "mercer.kernels.algebra.images",
}

__all__ = sorted([*KERNELS, *_FUNCTIONS])  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in KERNELS:
        return KERNELS[name].load()
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(_FUNCTIONS[name]), name)
    raise AttributeError(f"module 'mercer.kernels' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
