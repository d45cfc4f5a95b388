"""Kernels on sets and multisets: the worked examples, and enumeration."""

import math
from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mercer import kernels
from mercer.errors import InputError, KernelError, ParameterError
from mercer.kernels.features.space import FeatureSpace

A, B = {0, 1, 2, 3}, {2, 3, 4}
MULTI = [list("aaabbc"), list("aabbbd")]
sets = st.lists(st.frozensets(st.integers(0, 9), max_size=6), min_size=1, max_size=5)
multisets = st.lists(st.lists(st.sampled_from("abcd"), max_size=6), min_size=1, max_size=5)


def value(kernel, a, b):
    return kernel.fit([a, b])([a], [b])[0, 0]


def test_examples():
    everything = range(10)
    measure = [(i + 1) / 55 for i in range(10)]
    assert value(kernels.SetIntersection(), A, B) == 2
    assert value(kernels.SetUnionComplement(everything), A, B) == 5
    assert value(kernels.SetAgreement(everything), A, B) == 7
    assert value(kernels.SetUnionComplement(range(6)), A, B) == 1
    assert value(kernels.SetIntersection(everything, measure), A, B) == pytest.approx(7 / 55, abs=1e-12)
    assert value(kernels.SubsetCount(), A, B) == 4
    assert value(kernels.SubsetCount(), set("ABCD"), set("BCDE")) == 8
    assert value(kernels.MultisetDot(), *MULTI) == 12
    assert value(kernels.MultisetIntersection(), *MULTI) == 4
    assert value(kernels.SubMultisetCount(), *MULTI) == pytest.approx(9, abs=1e-9)
    assert value(kernels.LabelledSubMultisets(), *MULTI) == pytest.approx(100, abs=1e-9)
    assert value(kernels.DerivedSubsets(kernels.RBF(gamma=0.5)), {0, 1}, {1, 3}) == pytest.approx(
        1.7529749395, abs=1e-9
    )
    assert value(kernels.DerivedSubsets(kernels.Linear()), {0, 1}, {1, 3}) == 4


@given(sets)
def test_kernels_on_sets_are_what_they_say(items):
    everything = frozenset(range(10))
    for kernel, wanted in (
        (kernels.SetIntersection(), lambda a, b: len(a & b)),
        (kernels.SetUnionComplement(everything), lambda a, b: len(everything - (a | b))),
        (kernels.SetAgreement(everything), lambda a, b: 10 - len(a ^ b)),
        (kernels.SubsetCount(), lambda a, b: len(subsets(a) & subsets(b))),
        (kernels.SetTanimoto(), lambda a, b: len(a & b) / len(a | b) if a | b else 0.0),
    ):
        found = kernel.fit(items)(items)
        np.testing.assert_allclose(found, [[wanted(a, b) for b in items] for a in items], atol=1e-9)


def subsets(a):
    return {frozenset(part) for part in chain.from_iterable(combinations(a, size) for size in range(len(a) + 1))}


@given(multisets)
def test_kernels_on_multisets_are_what_they_say(items):
    def over_all(function):
        return lambda a, b: function([(Counter(a)[x], Counter(b)[x]) for x in "abcd"])

    def share(pairs):
        return sum(map(min, pairs)) / sum(map(max, pairs)) if sum(map(max, pairs)) else 0.0

    for kernel, function in (
        (kernels.MultisetDot(), lambda pairs: sum(m * n for m, n in pairs)),
        (kernels.MultisetIntersection(), lambda pairs: sum(map(min, pairs))),
        (kernels.SubMultisetCount(), lambda pairs: math.prod(1 + min(pair) for pair in pairs)),
        (kernels.LabelledSubMultisets(), lambda pairs: math.prod(math.comb(m + n, m) for m, n in pairs)),
        (kernels.MultisetMinMax(), share),
    ):
        found = kernel.fit(items)(items)
        wanted = over_all(function)
        np.testing.assert_allclose(found, [[wanted(a, b) for b in items] for a in items], rtol=1e-9, atol=1e-9)


def test_boolean_vectors_are_sets():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(6, 7))
    wanted = np.asarray([[np.prod(1 + x * z) for z in X] for x in X])  # the all-subsets kernel
    np.testing.assert_array_equal(kernels.SubsetCount().fit(X)(X), wanted)
    np.testing.assert_array_equal(kernels.SetIntersection().fit(X)(X), X @ X.T)


def test_the_cosine_of_subset_counts_never_overflows():
    large = [set(range(5000)), set(range(5001)), set()]
    found = kernels.normalise(kernels.SubsetCount()).fit(large)(large)
    assert found[0, 1] == pytest.approx(2**-0.5)
    np.testing.assert_array_equal(np.diag(found), 1)
    with pytest.raises(KernelError, match="normalise"):
        kernels.SubsetCount().fit(large)(large)


def test_the_ambient_set_is_part_of_the_kernel():
    with pytest.raises(InputError, match="Set 1 has an element outside"):
        kernels.SetAgreement(range(3)).fit([{0}, {3}])
    fitted = kernels.SetIntersection(range(3)).fit([{0}])
    with pytest.raises(InputError, match="outside"):
        fitted([{9}], [{0}])
    for bad in (None, "abc", [1, 1], [], 3, [[1]]):
        with pytest.raises(ParameterError):
            kernels.SetUnionComplement(bad)
    for weights in ([1.0], [1.0, -1.0], ["a", 1.0]):
        with pytest.raises(ParameterError):
            kernels.SetIntersection(("x", "y"), weights)


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.SetIntersection(range(6), range(6)),
        kernels.SetUnionComplement(range(6)),
        kernels.SetAgreement(range(6), [0.5] * 6),
        kernels.MultisetDot(),
        kernels.MultisetIntersection(),
        kernels.normalise(kernels.MultisetIntersection()) + 2.0 * kernels.MultisetDot(),
    ],
    ids=str,
)
def test_feature_maps_give_the_kernel(kernel):
    rng = np.random.default_rng(1)
    items = [rng.integers(0, 6, size=size).tolist() for size in (0, 3, 5, 8, 8)]
    fitted = kernel.fit(items)
    objects = fitted.coerce(items)
    _, matrix = FeatureSpace.of(fitted, objects)
    np.testing.assert_allclose((matrix @ matrix.T).toarray(), fitted(items), atol=1e-9)


def test_means_over_bags():
    rng = np.random.default_rng(2)
    bags = [rng.normal(size=(size, 3)) for size in (1, 4, 2)]
    mean = kernels.DerivedSubsets(kernels.Linear(), mean=True).fit(bags)(bags)
    centres = np.asarray([bag.mean(axis=0) for bag in bags])
    np.testing.assert_allclose(mean, centres @ centres.T, atol=1e-9)
    words = kernels.DerivedSubsets(kernels.Spectrum(p=1)).fit([["ab", "b"], ["abc"]])
    np.testing.assert_array_equal(words([["ab", "b"], ["abc"]]), [[5, 3], [3, 3]])


def test_measures_are_numbers_one_for_each_element():
    given = kernels.SetIntersection(ambient=["a", "b", "c"], measure_of=[1, 2, np.float32(0.5)])
    assert given.measure_of == (1.0, 2.0, 0.5)
    assert given == kernels.SetIntersection(ambient=("a", "b", "c"), measure_of=(1.0, 2.0, 0.5))
    assert hash(given)
    assert given.fit([{"a", "c"}])([{"a", "b", "c"}], [{"b", "c"}]) == pytest.approx(2.5)
    message = "The 'measure_of' parameter of SetIntersection must be 3 numbers, one per element"
    with pytest.raises(ParameterError, match=message):
        kernels.SetIntersection(ambient=["a", "b", "c"], measure_of=[1, 2])
