"""Folders: a file per class and a folder per class, in every format of records."""

import gzip

import pytest

from mercer.errors import DataFileError
from mercer.readers import read
from mercer.readers.options import Options
from mercer.readers.streaming import stream


@pytest.fixture
def folder(tmp_path):
    def write(**files):
        for name, content in files.items():
            path = tmp_path / "data" / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(tmp_path / "data")

    return write


POSITIVE, NEGATIVE = ">s1\nACGT\nAC\n>s2\nGGGG\n", ">t1\nTTTT\n"


@pytest.mark.parametrize(
    "files",
    [
        {"pos_fa": POSITIVE, "neg_fa": NEGATIVE},
        {"pos_fa_gz": gzip.compress(POSITIVE.encode()), "neg_fa_gz": gzip.compress(NEGATIVE.encode())},
        {"pos_txt": POSITIVE, "neg_txt": NEGATIVE},
        {"pos__a_fa": ">s1\nACGTAC\n", "pos__b_fa": ">s2\nGGGG\n", "neg__a_fa": NEGATIVE},
    ],
)
def test_records_are_objects_not_lines(folder, files):
    data = read(folder(**files))
    assert (data.kind, sorted(data.objects)) == ("strings", ["ACGTAC", "GGGG", "TTTT"])
    assert dict(zip(data.objects, data.labels, strict=True)) == {"ACGTAC": "pos", "GGGG": "pos", "TTTT": "neg"}
    assert {name.rpartition(":")[2] for name in data.ids} == {"s1", "s2", "t1"}


def test_records_are_predicted_one_by_one(folder):
    path = folder(a_fa=POSITIVE, b_fa=NEGATIVE)
    (block,) = stream(path, Options(require_target=False))
    assert list(block.ids) == ["a.fa:s1", "a.fa:s2", "b.fa:t1"]
    assert block.labels is None


def test_molecules_and_trees(folder, tmp_path):
    data = read(folder(toxic_smi="CCO\nCCN\n", harmless_smi="c1ccccc1\n"))
    assert data.labels.tolist() == ["harmless", "toxic", "toxic"]
    assert data.objects["smiles"].values.tolist() == ["c1ccccc1", "CCO", "CCN"]
    for file in (tmp_path / "data").iterdir():
        file.unlink()
    data = read(folder(good_mrg="(S (A a) (B b))\n(S (A c))\n", bad_mrg="(S (B b))\n"))
    assert (data.kind, len(data), data.labels.tolist()) == ("trees", 3, ["bad", "good", "good"])


def test_tables_share_their_header_and_their_kinds(folder):
    data = read(folder(cat_csv="mass,home\n4.5,1\n3,2\n", dog_csv="mass,home\n30,farm\n25,1\n"))
    assert data.labels.tolist() == ["cat", "cat", "dog", "dog"]
    assert data.objects["mass"].values.tolist() == [4.5, 3, 30, 25]
    assert data.objects["home"].values.tolist() == ["1", "2", "farm", "1"]  # words in one file: words in all
    assert data.ids[0] == "cat.csv:2"


def test_parts_of_one_table_keep_their_own_target(folder):
    data = read(folder(a_csv="mass,pet\n4.5,cat\n", b_csv="mass,pet\n30,dog\n"), target="pet")
    assert (data.target, data.labels.tolist(), list(data.objects)) == ("pet", ["cat", "dog"], ["mass"])


def test_text_is_lines_or_whole_files_as_in_training(folder):
    path = folder(a_txt="one\ntwo\n", b_txt="three\n")
    assert read(path).objects == ["one", "two", "three"]
    assert read(path).detail["whole_files"] is False
    assert read(path, require_target=False).objects == ["one\ntwo\n", "three\n"]
    assert read(path, require_target=False, whole_files=False).objects == ["one", "two", "three"]
    assert read(f"{path}/a.txt", whole_files=True, require_target=False).objects == ["one\ntwo\n"]


def test_prose_that_quotes_is_no_sequence(folder):
    data = read(folder(a__1="> so he said\nand I agreed, of course\n", b__1="(no)\nbut why"))
    assert data.objects[0].startswith("> so he said")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"a_csv": "x\n1\n", "b_fa": ">s\nACGT\n"}, '"a.csv" is csv, but "b.fa" is fasta'),
        ({"a_csv": "x,y\n1,2\n", "b_csv": "x,z\n1,2\n"}, 'b.csv: no column "y", which a.csv has'),
        ({"a_fa": ">s\nACGT\n", "b_fa": ">s\nAC1T\n"}, 'b.fa:2: "1" is not a symbol'),
        ({"a_txt": "", "b_txt": " \n"}, "all of its files are empty"),
        ({"a_fa": ">s\nACGT\n"}, "neither a folder per class nor a file per class"),
    ],
)
def test_what_does_not_fit_together_is_refused(folder, files, message):
    with pytest.raises(DataFileError, match=message.replace("(", r"\(")):
        read(folder(**files))


def test_files_beside_folders_of_classes_and_hidden_folders_are_no_classes(tmp_path):
    for place in ("cat/one.txt", "dog/two.txt", ".git/three.txt"):
        (tmp_path / place).parent.mkdir()
        (tmp_path / place).write_text("words")
    (tmp_path / "README.txt").write_text("about them")
    data = read(tmp_path)
    assert data.labels.tolist() == ["cat", "dog"]
    assert [data.name_of(place) for place in range(2)] == ["cat/one.txt", "dog/two.txt"]


def test_several_graphs_in_a_file_are_numbered(folder):
    def graphs(*edges):
        one = "".join(f'<graph edgedefault="undirected"><node id="a"/><node id="b"/>{edge}</graph>' for edge in edges)
        return f'<graphml xmlns="http://graphml.graphdrawing.org/xmlns">{one}</graphml>'

    edge = '<edge source="a" target="b"/>'
    data = read(folder(many_graphml=graphs(edge, "", edge), one_graphml=graphs(edge)))
    assert [data.name_of(place) for place in range(4)] == [
        "many.graphml:1", "many.graphml:2", "many.graphml:3", "one.graphml",
    ]  # fmt: skip
    assert data.labels.tolist() == ["many"] * 3 + ["one"]
