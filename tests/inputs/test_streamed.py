"""Objects that are read from blocks: taken in any order, as if they were in memory."""

import pickle

import numpy as np
import pytest

from mercer import kernels
from mercer.datasets import make_dna
from mercer.errors import InputError, ModelFileError
from mercer.inputs import streamed
from mercer.inputs.blocks import ArrayBlocks, Block, Blocks
from mercer.inputs.streamed import Streamed
from mercer.inputs.vectors import Vectors
from mercer.testing.samples import objects_for

INDICES = [
    slice(3, 17),
    slice(None),
    slice(5, 5),
    slice(1, 20, 3),
    np.array([19, 0, 7, 7, 3]),
    np.array([4]),
    slice(30, 40),
]


@pytest.mark.parametrize("index", INDICES, ids=str)
@pytest.mark.parametrize("rows", [1, 4, 7, 100])
def test_vectors_are_taken_as_if_they_were_in_memory(index, rows):
    X = np.random.default_rng(0).normal(size=(23, 3))
    found = kernels.RBF().coerce(ArrayBlocks(X, rows=rows))
    assert isinstance(found, Streamed)
    assert len(found) == 23
    assert np.array_equal(found.take(index).values, X[index])


KERNELS = [
    kernels.RBF(),
    kernels.Spectrum(2),
    kernels.SetIntersection(),
    kernels.WeisfeilerLehman(),
    kernels.ShortestPath(),
    kernels.Subtree(),
    kernels.GlobalAlignment(),
    kernels.Categorical(),
    kernels.DerivedSubsets(kernels.RBF(gamma=1.0)),
    kernels.on("a", kernels.RBF(gamma=1.0)) + kernels.on("b", kernels.Spectrum(2)),
]


@pytest.mark.filterwarnings("ignore::mercer.errors.KernelWarning")  # of oddities among the samples
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: type(kernel).__name__)
def test_objects_of_every_kind_are_joined(kernel):
    for name, whole in objects_for(kernel).items():
        n = len(whole)
        some = np.array([5, 1, 1, n - 1, 0]) % n
        found = Streamed(ArrayBlocks(whole, rows=3), kernel.domain)
        fitted = kernel.fit(whole)
        assert len(found) == n
        assert np.array_equal(fitted(found.take(some)), fitted(whole.take(some))), name
        assert np.array_equal(fitted(found.take(slice(1, n))), fitted(whole.take(slice(1, n)))), name


def test_each_thread_keeps_the_block_it_read_last():
    reads = []

    class Counted(Blocks):
        sizes, digest = (4, 4), ""

        def read(self, number):
            reads.append(number)
            return Block(np.full((4, 1), float(number)))

    found = kernels.Linear().coerce(Counted())
    for start in range(0, 8, 2):
        found.take(slice(start, start + 2))
    assert reads == [0, 1]


def test_the_sample_is_the_same_whatever_the_plan(monkeypatch):
    monkeypatch.setattr(streamed, "KNOWN", 50)
    monkeypatch.setattr(streamed, "_FEWEST_KNOWN", 10)
    X = np.random.default_rng(0).normal(size=(400, 2))
    first, second = (kernels.RBF().coerce(ArrayBlocks(X, rows=rows)).known().values for rows in (7, 64))
    assert np.array_equal(first, second)
    assert len(first) == 50
    assert len(np.unique(first[:, 0])) == 50
    assert np.isin(first[:, 0], X[:, 0]).all()
    few = kernels.RBF().coerce(ArrayBlocks(X[:40], rows=7)).known().values
    assert np.array_equal(few, X[:40])


def test_kernels_are_fitted_to_the_sample():
    X = np.random.default_rng(0).normal(size=(300, 4)) * 3
    one, other = kernels.RBF(gamma="scale").fit(ArrayBlocks(X, rows=50)), kernels.RBF(gamma="scale").fit(X)
    assert one.state.number("gamma") == other.state.number("gamma")
    words, _ = make_dna(40, random_state=0)
    seen = kernels.Nystrom(kernels.Spectrum(3), m=5)
    assert (seen.fit(ArrayBlocks(words, rows=9))(words) == seen.fit(words)(words)).all()


@pytest.mark.parametrize("n", [7, 5000])
def test_bytes_are_told_without_reading_all(n):
    rows, read = np.zeros((n, 3)), []

    class Counted(ArrayBlocks):
        def read(self, number):
            read.append(number)
            return super().read(number)

    assert Streamed(Counted(rows, rows=512), Vectors).nbytes == rows.nbytes
    assert max(read) < 2


def test_errors_name_the_block():
    X = np.zeros((10, 2))
    X[7, 1] = np.nan
    found = kernels.RBF().coerce(ArrayBlocks(X, rows=4))
    assert len(found.take(slice(0, 4))) == 4
    with pytest.raises(InputError, match=r"In block 1, which begins with object 4: .*row 3, column 1"):
        found.take(slice(4, 5))

    class Shrunk(Blocks):
        sizes, digest = (4,), ""

        def read(self, number):
            return Block(np.zeros((3, 1)))

    with pytest.raises(InputError, match="3 objects, and 4 were announced"):
        kernels.RBF().coerce(Shrunk()).take(slice(0, 1))

    class Wider(Blocks):
        sizes, digest = (2, 2), ""

        def read(self, number):
            return Block(np.zeros((2, 1 + number)))

    with pytest.raises(InputError, match="different lengths cannot be joined: 1 and 2"):
        kernels.RBF().coerce(Wider()).take(slice(0, 4))


def test_pickled_objects_are_read_anew():
    found = kernels.RBF().coerce(ArrayBlocks(np.arange(12.0)[:, None], rows=5))
    found.take(slice(0, 3))
    again = pickle.loads(pickle.dumps(found))
    assert np.array_equal(again.take(slice(3, 9)).values, found.take(slice(3, 9)).values)


def test_no_model_file_holds_them():
    with pytest.raises(ModelFileError, match="stay where they are"):
        kernels.RBF().coerce(ArrayBlocks(np.zeros((3, 1)))).to_arrays()
