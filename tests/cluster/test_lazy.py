"""Data of Dask as blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mercer import kernels
from mercer.cluster import use
from mercer.cluster.lazy import blocks_of, in_memory
from mercer.errors import InputError
from mercer.inputs.blocks import PartOfBlocks

da = pytest.importorskip("dask.array", reason="dask is not installed")
db = pytest.importorskip("dask.bag", reason="dask is not installed")

X = np.random.default_rng(0).normal(size=(100, 3))


def test_chunks_are_blocks() -> None:
    blocks = blocks_of(da.from_array(X, chunks=(30, 2)))
    assert blocks.sizes == (30, 30, 30, 10)
    assert blocks.n_objects == 100
    assert (np.concatenate([block.objects for block in blocks]) == X).all()


def test_lengths_are_counted_where_they_are_not_known() -> None:
    lazy = da.from_array(X, chunks=(30, 3))
    assert blocks_of(lazy[lazy[:, 0] > 0]).n_objects == (X[:, 0] > 0).sum()
    with pytest.raises(InputError, match="0 objects"):
        blocks_of(lazy[lazy[:, 0] > 10])


def test_empty_partitions_are_no_blocks() -> None:
    bag = db.from_sequence(["GATT", "ACA", "G", "TT"], npartitions=4).filter(lambda word: len(word) > 1)
    blocks = blocks_of(bag)
    assert blocks.sizes == (1, 1, 1)
    assert [block.objects for block in blocks] == [["GATT"], ["ACA"], ["TT"]]


def test_frames_keep_their_names() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    dd = pytest.importorskip("dask.dataframe", reason="dask.dataframe is not installed")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    blocks = blocks_of(dd.from_pandas(frame, npartitions=3))
    assert blocks.names == ("a", "b", "c")
    assert sum(blocks.sizes) == 100
    assert (in_memory(dd.from_pandas(frame, npartitions=3)["a"]) == X[:, 0]).all()


def test_digests_are_about_the_content() -> None:
    lazy = da.from_array(X, chunks=(30, 3))
    again = da.from_array(X.copy(), chunks=(30, 3)) + 0.0
    assert blocks_of(lazy).digest == blocks_of(again).digest
    assert blocks_of(lazy).digest != blocks_of(da.from_array(X + 1e-9, chunks=(30, 3))).digest
    assert blocks_of(lazy).digest != blocks_of(da.from_array(X, chunks=(50, 3))).digest


def test_what_has_no_partitions_is_refused() -> None:
    from dask.delayed import delayed

    with pytest.raises(InputError, match=r"has no partitions\. Use dask\.array"):
        blocks_of(delayed(X))


@pytest.mark.parametrize("persisted", [False, True])
def test_objects_are_picked_where_they_are(client: Any, persisted: bool) -> None:
    lazy = da.from_array(X, chunks=(30, 3)) * 1.0
    places = np.array([99, 5, 40, 41, 5])
    with use(client) as session:
        lazy = client.persist(lazy) if persisted else lazy
        objects: Any = kernels.RBF(gamma=1.0).coerce(lazy)
        before = session.traffic.fetched
        assert (objects.take(places).values == X[places]).all()
        assert session.traffic.fetched - before < X.nbytes / 2  # not the blocks that they lie in
        assert (objects.take(slice(25, 65)).values == X[25:65]).all()
        part: Any = kernels.RBF(gamma=1.0).coerce(PartOfBlocks(objects.blocks, 0.3, 0, rest=False))
        rows = np.concatenate([block.objects for block in part.blocks])
        assert (part.take(np.arange(len(part))).values == rows).all()
