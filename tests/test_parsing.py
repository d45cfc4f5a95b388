"""Threads that parse at the same time disturb each other in some versions of Python; nobody notices."""

import ast
import io

import numpy as np
import pytest

from mercer import blocks, kernels
from mercer._parsing import undisturbed
from mercer.kernels.text.expression import parse
from mercer.readers.arrays import array_of
from mercer.studio.lab import formula

X, Y = np.arange(12.0).reshape(6, 2), np.arange(6.0)


@pytest.fixture
def disturb(monkeypatch):
    """From now on, the first call of Python's parser fails, as it may if another thread parses at the same time."""
    plain, failed = ast.parse, []

    def failing(*args, **kwargs):
        if not failed:
            failed.append(args)
            raise SystemError("AST constructor recursion depth mismatch (before=243, after=64)")
        return plain(*args, **kwargs)

    yield lambda: monkeypatch.setattr(ast, "parse", failing)
    assert failed, "nothing was parsed"


def test_blocks_in_a_folder(tmp_path, disturb):
    folder = blocks.convert(iter([(X, Y)]), tmp_path / "rows")
    disturb()
    assert np.array_equal(folder.read(0).y, Y)


def test_blocks_of_npy_files(tmp_path, disturb):
    np.save(tmp_path / "X.npy", X)
    disturb()
    assert np.array_equal(blocks.of(tmp_path / "X.npy").read(0).objects, X)


def test_arrays_of_readers(disturb):
    stream = io.BytesIO()
    np.save(stream, X)
    disturb()
    assert np.array_equal(array_of("X.npy", stream.getvalue()), X)


def test_kernels_as_text(disturb):
    disturb()
    assert parse("rbf(gamma=0.125)") == kernels.RBF(gamma=0.125)


def test_formulas(disturb):
    disturb()
    assert isinstance(formula.read("exp(-dist**2)"), ast.expr)


def test_other_errors_are_not_repeated():
    calls = []

    @undisturbed
    def broken():
        calls.append(None)
        raise SystemError("something else")

    with pytest.raises(SystemError, match="something else"):
        broken()
    assert len(calls) == 1


def test_it_ends():
    @undisturbed
    def always():
        raise SystemError("AST constructor recursion depth mismatch (before=1, after=2)")

    with pytest.raises(SystemError, match="mismatch"):
        always()
