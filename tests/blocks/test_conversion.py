"""Sources that can be read once, as folders of blocks."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import SVC, blocks, kernels
from mercer.datasets import make_dna
from mercer.errors import DataFileError, InputError, InputTypeError
from mercer.inputs.blocks import Block
from mercer.readers import read

RNG = np.random.default_rng(0)


def rows_of(found, kernel):
    return kernel.coerce(found).take(slice(None))


def test_csv(tmp_path):
    lines = ["a,b,label", *(f"{i % 13 / 7},{i % 7 - 3},{'yes' if i % 3 else 'no'}" for i in range(500))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    found = blocks.convert(tmp_path / "t.csv", tmp_path / "out", target="label", rows=128)
    assert found.sizes == (128, 128, 128, 116)
    assert found.names == ("a", "b")
    assert found.y.tolist() == ["yes" if i % 3 else "no" for i in range(500)]
    np.testing.assert_allclose(rows_of(found, kernels.RBF()).values, [[i % 13 / 7, i % 7 - 3] for i in range(500)])


def test_csv_with_text_is_a_table(tmp_path):
    lines = ["a,word,label", *(f"{i},w{i % 5}{i % 3}x,{i % 2}" for i in range(200))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    found = blocks.convert(tmp_path / "t.csv", tmp_path / "out", target="label", rows=64)
    kernel = kernels.on("word", kernels.Spectrum(2))
    assert len(rows_of(found, kernel)) == 200
    assert found[0].objects["word"][4] == "w41x"


def test_folders_above_are_made(tmp_path):
    found = blocks.convert([np.eye(3)], tmp_path / "new" / "newer" / "out")
    assert len(found) == 1
    assert [path.name for path in (tmp_path / "new" / "newer").iterdir()] == ["out"]


def test_gaps_are_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,label\n1,2,x\n3,,y\n5,6,x\n7,8,y\n")
    with pytest.raises(DataFileError, match="column 'b' has no value in row 2"):
        blocks.convert(tmp_path / "t.csv", tmp_path / "out", target="label")
    assert not (tmp_path / "out").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".out")]


@pytest.mark.parametrize("name", ["svmlight", "fasta", "jsonl"])
def test_other_formats(name, tmp_path):
    words, labels = make_dna(40, random_state=0)
    texts = {
        "svmlight": "".join(f"{'+1' if i % 2 else '-1'} 1:{i}.5 7:{i + 1}\n" for i in range(40)),
        "fasta": "".join(f">s{i} {label}\n{word}\n" for i, (word, label) in enumerate(zip(words, labels, strict=True))),
        "jsonl": "".join(json.dumps({"x": i % 7 + 0.5, "z": i % 5, "label": "ab"[i % 2]}) + "\n" for i in range(40)),
    }
    options = {"svmlight": {}, "fasta": {"label_pattern": r"s\d+ (\S+)"}, "jsonl": {"target": "label"}}[name]
    path = tmp_path / f"data.{name}"
    path.write_text(texts[name])
    found = blocks.convert(path, tmp_path / "out", format=name, rows=16, **options)
    assert found.sizes == (16, 16, 8)
    whole = read(path, format=name, **options)
    assert found.y.tolist() == np.asarray(whole.labels).tolist()
    kernel = kernels.Spectrum(2) if name == "fasta" else kernels.RBF()
    if name == "fasta":
        assert rows_of(found, kernel).tolist() == list(whole.objects)
    elif name == "svmlight":
        assert (rows_of(found, kernel).dense() == whole.objects.toarray()).all()
    else:
        assert rows_of(found, kernel).values.tolist() == [[i % 7 + 0.5, i % 5] for i in range(40)]


def test_generators_of_anything(tmp_path):
    rows = sp.random(100, 20, density=0.2, random_state=0, format="csr")
    sparse = blocks.convert((rows[i : i + 9] for i in range(0, 100, 9)), tmp_path / "sparse", rows=32)
    assert (rows_of(sparse, kernels.Linear()).dense() == rows.toarray()).all()
    assert sparse.y is None
    sets = [{i % 7, i % 3} for i in range(20)]
    of_sets = blocks.convert(
        [Block(sets[:11]), Block(sets[11:])], tmp_path / "sets", kernel=kernels.SetIntersection(), rows=8
    )
    kernel = kernels.SetIntersection()
    assert (kernel.fit(sets)(rows_of(of_sets, kernel)) == kernel.fit(sets)(sets)).all()
    with pytest.raises(InputTypeError, match="pass kernel="):
        blocks.convert([sets], tmp_path / "none")


def test_arrow(tmp_path):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": np.arange(50.0), "b": np.arange(50.0) ** 2, "y": np.arange(50) % 2})
    found = blocks.convert(table, tmp_path / "arrow", target="y", rows=20)
    assert found.names == ("a", "b")
    assert found.y.tolist() == [i % 2 for i in range(50)]
    assert rows_of(found, kernels.RBF()).values[:, 1].tolist() == [i**2 for i in range(50)]


def test_blocks_must_agree(tmp_path):
    with pytest.raises(InputError, match="one kind"):
        blocks.convert([["a", "b"], np.zeros((2, 2))], tmp_path / "mixed")
    with pytest.raises(InputError, match="others have none"):
        blocks.convert([(np.zeros((2, 2)), [0, 1]), np.zeros((2, 2))], tmp_path / "targets")
    with pytest.raises(DataFileError, match="no objects"):
        blocks.convert(iter(()), tmp_path / "nothing")
    (tmp_path / "there").mkdir()
    with pytest.raises(DataFileError, match="already exists"):
        blocks.convert([np.zeros((2, 2))], tmp_path / "there")
    with pytest.raises(InputTypeError, match="iterable of blocks"):
        blocks.convert(7, tmp_path / "seven")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["there"]


def test_words_are_trained_from_a_folder(tmp_path):
    words, labels = make_dna(200, random_state=0)
    pieces = ((words[i : i + 30], labels[i : i + 30]) for i in range(0, 200, 30))
    found = blocks.convert(pieces, tmp_path / "words", rows=64)
    model = SVC(kernel=kernels.Nystrom(kernels.normalise(kernels.Spectrum(4)), m=80), C=10).fit(found)
    assert model.score(words, labels) > 0.7
