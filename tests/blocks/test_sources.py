"""Files as blocks: the same rows as in memory, refusals of what is damaged, pickles that are names of files."""

import json
import pickle
import sys

import numpy as np
import pytest

from mercer import KernelRidge, blocks, kernels
from mercer.blocks import parquet as parquet_module
from mercer.errors import DataFileError, MissingExtraError
from mercer.inputs.blocks import ArrayBlocks

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1000, 3)).astype(np.float32)
Y = np.sin(X[:, 0]).astype(np.float64)
WEIGHTS = RNG.uniform(0.5, 2.0, size=1000)


@pytest.fixture
def npy(tmp_path):
    for name, array in (("X", X), ("y", Y), ("w", WEIGHTS)):
        np.save(tmp_path / f"{name}.npy", array)
    return blocks.of(tmp_path / "X.npy", tmp_path / "y.npy", tmp_path / "w.npy", rows=300)


@pytest.fixture
def parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y, "w": WEIGHTS}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet", row_group_size=130)
    return blocks.of(tmp_path / "rows.parquet", target="y", weight="w", rows=300)


@pytest.fixture
def folder(tmp_path):
    pieces = (
        (X[start : start + 70], Y[start : start + 70], WEIGHTS[start : start + 70]) for start in range(0, 1000, 70)
    )
    return blocks.convert(pieces, tmp_path / "folder", rows=300)


@pytest.mark.parametrize("source", ["npy", "parquet", "folder"])
def test_rows_targets_and_weights_are_those_of_memory(source, request):
    found = request.getfixturevalue(source)
    assert found.n_objects == 1000
    assert sum(found.sizes) == 1000
    assert max(found.sizes) <= 300
    read = [kernels.RBF().coerce(block.objects).values for block in found]
    assert np.array_equal(np.concatenate(read), X)
    assert np.array_equal(found.y, Y)
    assert np.array_equal(found.weights, WEIGHTS)
    assert np.array_equal(np.concatenate([block.y for block in found]), Y)
    assert np.array_equal(np.concatenate([block.weights for block in found]), WEIGHTS)
    again = pickle.loads(pickle.dumps(found))
    assert len(pickle.dumps(found)) < 5000
    assert again.digest == found.digest
    assert np.array_equal(kernels.RBF().coerce(again).take(slice(290, 310)).values, X[290:310])


@pytest.mark.parametrize("source", ["npy", "parquet", "folder"])
def test_machines_are_those_of_memory(source, request):
    found = request.getfixturevalue(source)
    seen = kernels.Nystrom(kernels.RBF(gamma=0.5), m=20)
    expected = KernelRidge(kernel=seen).fit(ArrayBlocks(X, Y, WEIGHTS, rows=300)).predict(X[:50])
    np.testing.assert_allclose(KernelRidge(kernel=seen).fit(found).predict(found)[:50], expected, atol=1e-6)


def test_parquet_without_its_package_is_told(parquet, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"^Parquet needs pyarrow, .* 'mercer\[tables\]'"):
        blocks.of(tmp_path / "rows.parquet", target="y")


def test_groups_of_rows_have_a_largest_size(parquet, tmp_path, monkeypatch):
    import pyarrow.parquet as pq

    meta = pq.ParquetFile(tmp_path / "rows.parquet").metadata
    largest = max(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
    monkeypatch.setattr(parquet_module, "_MOST_BYTES", largest)
    assert blocks.of(tmp_path / "rows.parquet", target="y").names == ("a", "b", "c", "w")
    monkeypatch.setattr(parquet_module, "_MOST_BYTES", largest - 1)
    with pytest.raises(DataFileError, match=r"row group 0 takes .* GiB"):
        blocks.of(tmp_path / "rows.parquet", target="y")


def test_names_of_columns_come_from_parquet(parquet):
    assert parquet.names == ("a", "b", "c")
    model = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(gamma=0.5), m=20)).fit(parquet)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_parquet_of_text_is_a_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    words = [f"w{i % 7}" for i in range(90)]
    for part in range(2):
        table = pa.table({"word": words, "x": np.arange(90.0), "label": ["ab"[i % 2] for i in range(90)]})
        pq.write_table(table, tmp_path / f"part{part}.parquet", row_group_size=40)
    found = blocks.of(tmp_path, target="label", rows=100)
    assert found.n_objects == 180
    assert found.sizes == (90, 90)
    assert found.y[:3].tolist() == ["a", "b", "a"]
    kernel = kernels.Nystrom(kernels.on("word", kernels.Spectrum(2)) + kernels.on("x", kernels.RBF(gamma=0.01)), m=9)
    assert len(kernel.coerce(found).take(np.array([3, 150, 81]))) == 3
    with pytest.raises(DataFileError, match="no column 'labell'"):
        blocks.of(tmp_path, target="labell")[0]


def test_rows_in_any_order_of_memory(tmp_path):
    np.save(tmp_path / "columns.npy", np.asfortranarray(X))
    np.save(tmp_path / "swapped.npy", X.astype(">f8"))
    for name in ("columns", "swapped"):
        found = blocks.of(tmp_path / f"{name}.npy", rows=300)
        assert np.array_equal(np.concatenate([kernels.RBF().coerce(block.objects).values for block in found]), X)


def test_a_file_that_becomes_shorter_is_told(npy, tmp_path):
    assert len(npy[3].y) == npy.sizes[3]
    with open(tmp_path / "X.npy", "r+b") as stream:
        stream.truncate(600)
    with pytest.raises(DataFileError, match=r"X\.npy: it has become shorter"):
        npy[3]


def test_changed_files_have_another_digest(npy, tmp_path):
    digest = npy.digest
    changed = X.copy()
    changed[777, 1] += 1
    np.save(tmp_path / "X.npy", changed)
    again = blocks.of(tmp_path / "X.npy", tmp_path / "y.npy", tmp_path / "w.npy", rows=300)
    assert again.digest != digest


def test_bad_files_are_refused(tmp_path, npy):
    (tmp_path / "bad.npy").write_bytes(b"\x93NUMPY nothing")
    with pytest.raises(DataFileError, match="not an npy file"):
        blocks.of(tmp_path / "bad.npy")
    with pytest.raises(DataFileError, match="shape"):
        blocks.of(tmp_path / "y.npy")
    np.save(tmp_path / "short.npy", Y[:9])
    with pytest.raises(DataFileError, match="1,000 rows"):
        blocks.of(tmp_path / "X.npy", tmp_path / "short.npy")
    with pytest.raises(DataFileError, match=r"Convert it once"):
        blocks.of(tmp_path / "table.csv")


def test_a_bad_parquet_file_is_refused(tmp_path):
    pytest.importorskip("pyarrow")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(DataFileError, match="not a Parquet file"):
        blocks.of(tmp_path / "bad.parquet")


def test_damaged_folders_are_refused(folder, tmp_path):
    path = tmp_path / "folder" / "000001.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    again = blocks.of(tmp_path / "folder")
    assert len(again[0].y) == 300
    with pytest.raises(DataFileError, match="not those that were written"):
        again[1]
    manifest = tmp_path / "folder" / "manifest.json"
    told = json.loads(manifest.read_text())
    for change in ({"kind": "os"}, {"version": 2}, {"blocks": []}, {"blocks": [{"rows": -1, "sha256": ""}]}):
        manifest.write_text(json.dumps({**told, **change}))
        with pytest.raises(DataFileError, match="damaged"):
            blocks.of(tmp_path / "folder")
    manifest.write_text("{")
    with pytest.raises(DataFileError, match="not a folder of blocks"):
        blocks.of(tmp_path / "folder")
