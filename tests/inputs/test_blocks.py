"""Sources of blocks: plans, targets, parts that are held out, digests."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import InputError, ParameterError
from mercer.inputs.blocks import ArrayBlocks, Block, Blocks, planned, split


class Listed(Blocks):
    """Blocks as they are."""

    def __init__(self, *blocks: Block) -> None:
        self._blocks = blocks

    @property
    def sizes(self):
        return tuple(len(block.objects) for block in self._blocks)

    def read(self, number):
        return self._blocks[number]

    @property
    def digest(self):
        return "listed"


@pytest.mark.parametrize(("n", "rows", "sizes"), [(10, 4, (4, 4, 2)), (8, 4, (4, 4)), (3, 4, (3,)), (1, 1, (1,))])
def test_plan(n, rows, sizes):
    assert planned(n, rows) == sizes


def test_plan_refuses_nothing():
    with pytest.raises(InputError, match="0 objects"):
        planned(0, 4)
    with pytest.raises(ParameterError, match="rows"):
        planned(4, 0)


@pytest.mark.parametrize(
    "objects",
    [np.arange(20.0).reshape(10, 2), sp.csr_array(np.eye(10)), [f"s{i}" for i in range(10)], {"a": np.arange(10)}],
    ids=["array", "CSR", "list", "table"],
)
def test_blocks_of_arrays_are_their_rows(objects):
    y, weights = np.arange(10), np.linspace(1, 2, 10)
    blocks = ArrayBlocks(objects, y, weights, rows=4)
    assert len(blocks) == 3
    assert blocks.n_objects == 10
    assert blocks.edges.tolist() == [0, 4, 8, 10]
    last = blocks[-1]
    assert last.y.tolist() == [8, 9]
    assert last.weights.tolist() == weights[8:].tolist()
    if isinstance(objects, dict):
        assert last.objects["a"].tolist() == [8, 9]
    elif sp.issparse(objects):
        assert (last.objects.toarray() == np.eye(10)[8:]).all()
    else:
        assert np.asarray(last.objects).tolist() == np.asarray(objects)[8:].tolist()
    with pytest.raises(IndexError):
        blocks[3]


def test_targets_are_read_once_and_must_fit():
    reads = []

    class Counted(Listed):
        def read(self, number):
            reads.append(number)
            return super().read(number)

    blocks = Counted(Block([1, 2], np.array([0, 1])), Block([3], np.array([1])))
    assert blocks.y.tolist() == [0, 1, 1]
    assert blocks.y.tolist() == [0, 1, 1]
    assert reads == [0, 1]
    assert Listed(Block([1, 2]), Block([3])).y is None
    with pytest.raises(InputError, match="Block 1 has no targets"):
        Listed(Block([1], np.array([0])), Block([3])).y  # noqa: B018
    with pytest.raises(InputError, match="Block 0 has 2 objects, and 1 weights"):
        Listed(Block([1, 2], None, np.ones(1))).weights  # noqa: B018
    with pytest.raises(InputError, match="10 objects, and 9 targets"):
        ArrayBlocks(np.zeros((10, 1)), np.zeros(9))


def test_held_out_objects_are_the_rest():
    X, y, weights = np.arange(1000.0)[:, None], np.arange(1000), np.arange(1000) + 1.0
    blocks = ArrayBlocks(X, y, weights, rows=64)
    training, test = split(blocks, 0.25, seed=3)
    parts = [np.concatenate([block.objects[:, 0] for block in part]) for part in (training, test)]
    assert sorted(np.concatenate(parts)) == list(range(1000))
    assert 180 < len(parts[1]) < 320
    for part, found in zip((training, test), parts, strict=True):
        assert part.n_objects == len(found) == sum(part.sizes)
        assert part.y.tolist() == found.tolist()
        assert part.weights.tolist() == (found + 1).tolist()
        assert np.concatenate([block.y for block in part]).tolist() == found.tolist()
    again = split(blocks, 0.25, seed=3)[1]
    assert again.digest == test.digest
    assert again.y.tolist() == test.y.tolist()
    assert split(blocks, 0.25, seed=4)[1].y.tolist() != test.y.tolist()
    with pytest.raises(ParameterError, match="held_out"):
        split(blocks, 1.0)
    with pytest.raises(InputError, match="less than one object"):
        split(ArrayBlocks(X[:1]), 1e-9)


def test_blocks_of_which_nothing_is_left_are_left_out():
    blocks = ArrayBlocks(np.arange(40.0)[:, None], rows=1)
    training, test = split(blocks, 0.5)
    assert set(training.sizes) == set(test.sizes) == {1}
    assert len(training) + len(test) == 40


def test_other_content_has_another_digest():
    X, y = np.arange(10.0)[:, None], np.arange(10)
    digest = ArrayBlocks(X, y, rows=4).digest
    assert digest == ArrayBlocks(X.copy(), y.copy(), rows=4).digest
    others = [
        ArrayBlocks(X, y, rows=5),
        ArrayBlocks(X, rows=4),
        ArrayBlocks(X, y[::-1], rows=4),
        ArrayBlocks(X + (np.arange(10) == 7)[:, None], y, rows=4),
        ArrayBlocks(X, y, np.ones(10), rows=4),
        ArrayBlocks(X.astype(np.float32), y, rows=4),
    ]
    assert len({digest, *(other.digest for other in others)}) == 1 + len(others)
    training, test = split(ArrayBlocks(X, y, rows=4), 0.5)
    assert len({digest, training.digest, test.digest}) == 3


def test_pickled_blocks_read_the_same():
    blocks = split(ArrayBlocks(np.arange(100.0)[:, None], np.arange(100), rows=9), 0.3)[0]
    assert blocks.y is not None
    again = pickle.loads(pickle.dumps(blocks))
    assert again.digest == blocks.digest
    assert again[2].y.tolist() == blocks[2].y.tolist()
