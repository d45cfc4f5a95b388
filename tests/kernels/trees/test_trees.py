"""Kernels on trees: worked examples, and every fragment written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer import kernels
from tests.oracles import trees as oracle

few = settings(max_examples=60)
THE, A, BIG = "(NP (D the) (N dog))", "(NP (D a) (N dog))", "(NP (D a) (J big) (N dog))"
CAT = "(S (N Mary) (VP (V brought) (NP (D a) (N cat))))"
SCHOOL = CAT.replace("cat", "school")
SMALL, LARGE = (((), ()), ()), (((), ()), ((), ()))

trees = st.recursive(
    st.tuples(st.sampled_from("ab"), st.just([])),
    lambda below: st.tuples(st.sampled_from("ab"), st.lists(below, max_size=3)),
    max_leaves=7,
)


def value(kernel, a, b):
    return float(kernel.fit([a, b])([a], [b])[0, 0])


@pytest.mark.parametrize(
    ("kernel", "a", "b", "expected"),
    [
        (kernels.CoRootedSubtree(labelled=False), SMALL, SMALL, 2),
        (kernels.CoRootedSubtree(labelled=False), SMALL, LARGE, 2),
        (kernels.CoRootedSubtree(labelled=False), LARGE, LARGE, 4),
        (kernels.AllSubtree(labelled=False), SMALL, SMALL, 5),
        (kernels.AllSubtree(labelled=False), SMALL, LARGE, 7),
        (kernels.AllSubtree(labelled=False), LARGE, LARGE, 12),
        (kernels.CoRootedSubtree(), THE, THE, 4),
        (kernels.CoRootedSubtree(), THE, A, 2),
        (kernels.SubsetTree(decay=1.0), THE, THE, 6),
        (kernels.SubsetTree(decay=1.0), THE, A, 3),
        (kernels.SubsetTree(decay=1.0), A, A, 6),
        (kernels.AllSubtree(), THE, A, 3),
        (kernels.SubsetTree(decay=0.5), THE, THE, 2.125),
        (kernels.SubsetTree(decay=0.5), THE, A, 1.25),
        (kernels.SubsetTree(decay=1.0), CAT, CAT, 40),
        (kernels.SubsetTree(decay=1.0), CAT, SCHOOL, 25),
        (kernels.Subtree(decay=1.0), CAT, CAT, 7),
        (kernels.Subtree(decay=1.0), CAT, SCHOOL, 3),
        (kernels.SubsetTree(decay=1.0), A, BIG, 2),
        (kernels.PartialTree(1.0, 1.0), THE, THE, 15),
        (kernels.PartialTree(1.0, 1.0), THE, A, 10),
        (kernels.PartialTree(1.0, 1.0), A, BIG, 15),
        (kernels.PartialTree(0.4, 0.4), THE, THE, 0.3369557715),
        (kernels.PartialTree(0.4, 0.4), THE, A, 0.2685947714),
        (kernels.PartialTree(0.5, 0.5), A, BIG, 0.6917152405),
        (kernels.normalise(kernels.SubsetTree(0.4, leaves="nodes")), THE, A, 1.36 / 2.384),
        (kernels.normalise(kernels.SubsetTree(0.4)), THE, A, 0.606),
    ],
)
def test_values(kernel, a, b, expected):
    tolerance = 5e-4 if isinstance(kernel, kernels.Normalised) else 1e-9
    assert value(kernel, a, b) == pytest.approx(expected, abs=tolerance)


@few
@given(trees, trees, st.sampled_from([0.3, 1.0]))
def test_fragments(a, b, decay):
    assert value(kernels.SubsetTree(decay), a, b) == pytest.approx(oracle.subset_tree(a, b, decay))
    assert value(kernels.Subtree(decay), a, b) == pytest.approx(oracle.subtree(a, b, decay))
    assert value(kernels.AllSubtree(), a, b) == oracle.subset_tree(a, b, 1.0)
    assert value(kernels.CoRootedSubtree(), a, b) == oracle.co_rooted(a, b)
    bare_a, bare_b = oracle.unlabelled(a), oracle.unlabelled(b)
    assert value(kernels.AllSubtree(labelled=False), a, b) == oracle.subset_tree(bare_a, bare_b, 1.0)
    assert value(kernels.CoRootedSubtree(labelled=False), a, b) == oracle.co_rooted(bare_a, bare_b)


@few
@given(trees, trees, st.sampled_from([(0.4, 0.7), (1.0, 1.0), (0.9, 0.2)]))
def test_partial_fragments(a, b, decays):
    assert value(kernels.PartialTree(*decays), a, b) == pytest.approx(oracle.partial_tree(a, b, *decays))


siblings = st.lists(st.sampled_from("ab").map(lambda label: (label, [])), min_size=4, max_size=6)


@few
@given(siblings, siblings)
def test_gaps_among_many_siblings(a, b):
    found = value(kernels.PartialTree(0.6, 0.7), ("r", a), ("r", b))
    assert found == pytest.approx(oracle.partial_tree(("r", a), ("r", b), 0.6, 0.7))


KERNELS = [
    kernels.CoRootedSubtree(),
    kernels.AllSubtree(labelled=False),
    kernels.SubsetTree(),
    kernels.SubsetTree(leaves="nodes"),
    kernels.Subtree(),
    kernels.PartialTree(),
]


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gram(kernel):
    items = [THE, A, BIG, CAT, SCHOOL, "(NP)", ("NP", "dog"), SMALL]
    fitted = kernel.fit(items)
    gram = fitted(items)
    assert np.allclose(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() >= -1e-12
    for number, item in enumerate(items):
        assert np.allclose(fitted([item], items), gram[number])
        assert np.allclose(fitted.diagonal(fitted.features(fitted.coerce([item]))), gram[number, number])


DEEP = "(a " * 3000 + "b" + ")" * 3000


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (kernels.CoRootedSubtree(), 1.0),
        (kernels.AllSubtree(labelled=False), 3 * 3000 - 1),
        (kernels.SubsetTree(decay=0.5), 0.5 + 0.5 * 2998 + 0.75),
        (kernels.Subtree(decay=1.0), 2.0),
    ],
    ids=str,
)
def test_depth_is_no_limit(kernel, expected):
    assert value(kernel, DEEP, "(a (a b))") == expected
    other_way_round = value(kernels.PartialTree(), "(a (a b))", DEEP)
    assert value(kernels.PartialTree(), DEEP, "(a (a b))") == pytest.approx(other_way_round)
