"""Everything that is no table: arrays, sparse rows, text, sequences, molecules, graphs, trees, Gram matrices."""

import io
import json
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

from mercer.errors import DataFileError
from mercer.readers import read


@pytest.fixture
def file(tmp_path):
    def write(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def refusal(path, **settings):
    with pytest.raises(DataFileError) as caught:
        read(path, **settings)
    return str(caught.value)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


# ----------------------------------------------------------------------------------------------------------- arrays


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.eye(4, 3), y=np.array(["a", "b", "a", "b"]))
    data = read(tmp_path / "a.npz")
    assert (data.kind, data.objects.shape, data.labels.tolist()) == ("vectors", (4, 3), ["a", "b", "a", "b"])
    sp.save_npz(tmp_path / "s.npz", sp.csr_array(np.eye(3)))
    (tmp_path / "y.txt").write_text("1\n2\n1\n")
    data = read(tmp_path / "s.npz", labels=str(tmp_path / "y.txt"))
    assert (data.objects.toarray() == np.eye(3)).all()
    assert data.labels.tolist() == [1, 2, 1]


def test_npy(file):
    matrix = np.arange(12.0).reshape(4, 3)
    data = read(file("a.npy", npy(matrix)), target="-1")
    assert data.objects.shape == (4, 2)
    assert data.labels.tolist() == [2, 5, 8, 11]
    assert "no labels" in refusal(file("a.npy", npy(matrix)))


def test_hostile_arrays(file, tmp_path):
    stream = io.BytesIO()
    np.save(stream, np.array([{"a": 1}], dtype=object), allow_pickle=True)
    assert "pickle" in refusal(file("p.npy", stream.getvalue()))
    head = npy(np.zeros((2, 2)))
    lying = head.replace(b"(2, 2)", b"(2,9" + b")"[:0] + b")")[: len(head)]
    assert "NumPy file" in refusal(file("l.npy", lying)) or "promises" in refusal(file("l.npy", lying))
    huge = bytearray(npy(np.zeros((10, 10))))
    huge = bytes(huge).replace(b"(10, 10), }  ", b"(99999999999)")
    assert refusal(file("h.npy", huge))
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", b"\0" * 5_000_000)
    assert "too large" in refusal(tmp_path / "bomb.npz", max_bytes=1_000_000)
    assert "does not begin" in refusal(file("x.npz", b"hello"))
    assert "not an npz" in refusal(file("y.npz", b"PK\x03\x04hello"))


# --------------------------------------------------------------------------------------------------------- svmlight


def test_svmlight(file):
    data = read(file("a.svm", "+1 1:0.5 3:2 # note\n-1 2:1\n"))
    assert data.labels.tolist() == [1, -1]
    assert data.objects.toarray().tolist() == [[0.5, 0, 2], [0, 1, 0]]
    assert read(file("b.dat", "1 0:1 2:3\n2 1:1\n")).objects.toarray().tolist() == [[1, 0, 3], [0, 1, 0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 2:1 1:1\n", "a.svm:1: index 1 after 2"),
        ("1 1:nan\n", "a.svm:1: the value in"),
        ("1 1:1\n1 2000000000:1\n", "a.svm:2: index 2,000,000,000 is beyond"),
        ("1 a:1\n", "is not index:value"),
        ("1 1:1 2\n", "is not index:value"),
        ("1 -1:1\n", "is not index:value"),
        ("1:2\n", "no labels"),
    ],
)
def test_bad_svmlight(file, content, message):
    assert message in refusal(file("a.svm", content))


# -------------------------------------------------------------------------------------------------- text and sequences


def test_text(file, tmp_path):
    assert read(file("a.txt", "one\ntwo words\n"), require_target=False).objects == ["one", "two words"]
    data = read(file("b.txt", "spam\tbuy now\nham\thello, you\n"))
    assert (data.format, data.objects, data.labels.tolist()) == (
        "labelled-text",
        ["buy now", "hello, you"],
        ["spam", "ham"],
    )
    labels = file("y.csv", "a\nb\n")
    assert read(file("a.txt", "one\ntwo words\n"), labels=labels).labels.tolist() == ["a", "b"]
    assert "1 label for 2" in refusal(file("a.txt", "one\ntwo\n"), labels=file("z.csv", "a\n"))
    assert "b.txt:2: no tab" in refusal(file("b.txt", "x\ty\nz\n"), format="labelled-text")


def test_jsonl(file):
    data = read(file("a.jsonl", '{"text": "x", "label": 1}\n{"text": "y", "label": 0}\n'))
    assert (data.kind, data.objects, data.labels.tolist()) == ("strings", ["x", "y"], [1, 0])
    table = read(file("b.jsonl", '{"a": 1, "b": "x", "label": 1}\n{"a": 2.5, "b": "y", "label": 0}\n'))
    assert {column.kind for column in table.objects.values()} == {"number", "category"}
    assert "a.jsonl:2: not JSON" in refusal(file("a.jsonl", '{"text": "x", "label": 1}\n{"text": NaN}\n'))
    assert "levels deep" in refusal(file("d.jsonl", '{"a":' + "[" * 5000 + "]" * 5000 + "}"))
    assert "an object {...} is expected" in refusal(file("e.jsonl", "[1, 2]"))


def test_folders(file, tmp_path):
    for label, text in (("neg/1.txt", "bad"), ("neg/2.txt", "poor"), ("pos/1.txt", "good")):
        file(f"films/{label}", text)
    data = read(tmp_path / "films")
    assert (data.objects, data.labels.tolist()) == (["bad", "poor", "good"], ["neg", "neg", "pos"])
    assert data.ids[0] == "neg/1.txt"
    file("names/male.txt", "Bob\nTim\n")
    file("names/female.txt", "Ann\n")
    file("names/README", "about")
    assert read(tmp_path / "names").labels.tolist() == ["female", "male", "male"]


def test_fasta(file):
    data = read(file("a.fa", ">s1 label=x\nACGT\nAC\n>s2 label=y\nggg\n"))
    assert (data.objects, data.labels.tolist(), data.ids) == (["ACGTAC", "GGG"], ["x", "y"], ["s1", "s2"])
    assert "Lower case" in data.notes[0]
    assert read(file("b.fa", ">1\nA\n>1\nC\n>0\nG\n>0\nT\n")).labels.tolist() == [1, 1, 0, 0]
    table = file("y.csv", "s2,b\ns1,a\n")
    assert read(file("c.fa", ">s1\nAC\n>s2\nGT\n"), labels=table).labels.tolist() == ["a", "b"]
    pattern = read(file("d.fa", ">p|kinase|1\nAC\n>q|other|2\nGT\n"), label_pattern=r"\|(\w+)\|")
    assert pattern.labels.tolist() == ["kinase", "other"]


def test_fasta_agrees_with_biopython(file):
    seqio = pytest.importorskip("Bio.SeqIO")
    text = ">a label=1\nAC\nGT\n\n>b label=2\nTT*-NN\n"
    ours = read(file("a.fa", text))
    theirs = [str(record.seq) for record in seqio.parse(io.StringIO(text), "fasta")]
    assert ours.objects == theirs


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("ACGT\n", "a.fa:1:"),
        (">a label=1\n>b label=2\nAC\n", 'a.fa:1: the record "a label=1" has no sequence'),
        (">a label=1\nAC1T\n", '"1" is not a symbol'),
        (">a\nAC\n>b\nGT\n", "no labels"),
    ],
)
def test_bad_fasta(file, content, message):
    assert message in refusal(file("a.fa", content))


# ------------------------------------------------------------------------------------------------- molecules and trees


def test_smiles(file):
    data = read(file("a.smi", "CCO 1\nCCC 0\nCCN 1\n"))
    assert (list(data.objects), data.labels.tolist()) == (["smiles"], [1, 0, 1])
    assert data.objects["smiles"].kind == "smiles"


def test_sdf(file):
    chem = pytest.importorskip("rdkit.Chem")
    records = ""
    for number, smiles in enumerate(["CCO", "CCC"]):
        records += chem.MolToMolBlock(chem.MolFromSmiles(smiles)) + f">  <active>\n{number}\n\n$$$$\n"
    data = read(file("a.sdf", records), target="active")
    assert (data.objects["smiles"].values.tolist(), data.labels.tolist()) == (["CCO", "CCC"], [0, 1])
    broken = records + "x\n\n\nnot a molecule\nM  END\n$$$$\n"
    assert "molecule 3 cannot be read" in refusal(file("b.sdf", broken), target="active")
    assert len(read(file("b.sdf", broken), target="active", skip_bad=True)) == 2


def test_trees(file):
    data = read(file("a.txt", "x\t(S (N a) (V b))\ny\t(S (N a))\n"))
    assert (data.format, data.kind, data.labels.tolist()) == ("trees", "trees", ["x", "y"])
    assert "a.mrg:2: " in refusal(file("a.mrg", "(S a)\n(S (N a)\n"), require_target=False)


# -------------------------------------------------------------------------------------------------------------- graphs


def test_tu(file, tmp_path):
    parts = {
        "A": "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n4, 5\n",
        "graph_indicator": "1\n1\n1\n2\n2\n",
        "graph_labels": "1\n-1\n",
        "node_labels": "6\n6\n8\n6\n7\n",
        "edge_labels": "0\n0\n1\n1\n2\n2\n2\n",
    }
    for part, content in parts.items():
        file(f"MINI/MINI_{part}.txt", content)
    data = read(tmp_path / "MINI")
    assert (data.format, data.kind, data.labels.tolist()) == ("tu", "graphs", [1, -1])
    graphs = data.objects
    assert graphs.sizes.tolist() == [3, 2]
    assert graphs.labels.tolist() == [6, 6, 8, 6, 7]
    assert graphs.edge_labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert not graphs.directed
    file("MINI/MINI_A.txt", "1, 2\n2, 9\n")
    assert "MINI_A.txt:2: an edge to a node" in refusal(tmp_path / "MINI")
    file("MINI/MINI_A.txt", "1, 2\n2, x\n")
    assert "MINI_A.txt:2:" in refusal(tmp_path / "MINI")
    file("MINI/MINI_A.txt", "1, 4\n")
    assert "between two graphs" in refusal(tmp_path / "MINI")


def test_graphml(tmp_path, file):
    nx = pytest.importorskip("networkx")
    for label, size in (("a", 3), ("a", 4), ("b", 5)):
        graph = nx.path_graph(size)
        nx.set_node_attributes(graph, "C", "label")
        folder = tmp_path / "set" / label
        folder.mkdir(parents=True, exist_ok=True)
        nx.write_graphml(graph, folder / f"{size}.graphml")
    data = read(tmp_path / "set")
    assert (data.kind, data.objects.sizes.tolist(), data.labels.tolist()) == ("graphs", [3, 4, 5], ["a", "a", "b"])
    evil = '<?xml version="1.0"?>\n<!DOCTYPE lolz [<!ENTITY lol "lol">]>\n<graphml></graphml>'
    assert "evil.graphml:2: a DOCTYPE" in refusal(file("evil.graphml", evil))
    assert "DOCTYPE" in refusal(file("evil16.graphml", evil.encode("utf-16")))
    assert "not GraphML" in refusal(file("bad.graphml", "<graphml><graph></graphml>"))
    assert "only GraphML" in refusal(file("page", "<html></html>"))


def test_edges_and_links(file):
    data = read(file("a.edges", "# x\na b\nb c\n\n# y\na b 2.5\n"))
    assert (data.objects.sizes.tolist(), data.labels.tolist()) == ([3, 2], ["x", "y"])
    assert "a.edges:2: the weight" in refusal(file("a.edges", "a b\na b c\n"), require_target=False)
    graph = {
        "nodes": [{"id": "p", "label": "C"}, {"id": "q", "label": "O"}],
        "links": [{"source": "p", "target": "q"}],
        "label": 1,
    }
    other = {**graph, "label": 0}
    data = read(file("g.jsonl", json.dumps(graph) + "\n" + json.dumps(other) + "\n"))
    assert (data.kind, data.objects.sizes.tolist(), data.labels.tolist()) == ("graphs", [2, 2], [1, 0])
    graph["links"] = [{"source": "p", "target": "z"}]
    assert "g.jsonl:2:" in refusal(file("g.jsonl", json.dumps(other) + "\n" + json.dumps(graph) + "\n"))


# --------------------------------------------------------------------------------------------------------------- Gram


def test_gram(file, tmp_path):
    table = ",a,b,c\na,2,1,0\nb,1,2,1\nc,0,1,2\n"
    labels = file("y.csv", "a,x\nb,y\nc,x\n")
    data = read(file("k.csv", table), labels=labels)
    assert (data.kind, data.ids, data.labels.tolist()) == ("gram", ["a", "b", "c"], ["x", "y", "x"])
    assert data.objects.tolist() == [[2, 1, 0], [1, 2, 1], [0, 1, 2]]
    assert "not symmetric: the entries (1, 2)" in refusal(file("k.csv", table.replace("2,1,0", "2,9,0")), labels=labels)
    np.savez(tmp_path / "k.npz", K=np.eye(4), labels=np.array([0, 1, 0, 1]))
    assert read(tmp_path / "k.npz").kind == "gram"


# --------------------------------------------------------------------------------------------------------- real files


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("path", "kind", "size", "classes"),
    [
        ("vectors/ionosphere/ionosphere.csv.xz", "table", 351, 2),
        ("vectors/heart_scale/heart_scale.gz", "vectors", 270, 2),
        ("vectors/vowel/Vowel.csv.xz", "table", 990, 11),
        ("strings/c_elegans_acceptor_2200/C_elegans_acc_seq.fa.xz", "strings", 2200, 2),
        ("strings/names_gender", "strings", 7944, 2),
        ("strings/splice_junction/splice.data.csv.xz", "table", 3190, 3),
        ("text/reuters_kernlab/reuters40.jsonl.xz", "strings", 40, 2),
        ("graphs/MUTAG", "graphs", 188, 2),
        ("graphs/Cuneiform", "graphs", 267, 30),
    ],
)
def test_real_files(shared_data, path, kind, size, classes):
    target = "-1" if "ionosphere" in path else None
    data = read(shared_data / path, target=target)
    assert (data.kind, len(data), len(set(data.labels.tolist()))) == (kind, size, classes)


def test_molecules_that_cannot_be_read(file):
    pytest.importorskip("rdkit")
    message = refusal(file("a.smi", "CCO a\nC1CC b\nCCN a\nCCC b\n"))
    assert message == 'a.smi:2: column "smiles": "C1CC" is not a valid SMILES'
    path = file("a.csv", "smiles,label\nCCO,a\nnonsense,b\nCCN,a\nCCC,b\n")
    assert refusal(path).startswith('a.csv:3: column "smiles": "nonsense"')
    data = read(path, skip_bad=True)
    assert data.objects["smiles"].values.tolist() == ["CCO", "CCN", "CCC"]
    assert (list(data.lines), data.labels.tolist()) == ([2, 4, 5], ["a", "a", "b"])
    assert data.notes[-1] == "1 molecule that cannot be read left out."


def test_what_is_not_read_at_all(file, tmp_path):
    import tarfile

    assert "ARFF" in refusal(file("a.arff", "% about\n@relation x\n@attribute a numeric\n@data\n1\n"))
    assert "neither text nor in" in refusal(file("a.dat", bytes(range(256)) * 40))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("x"))
    assert "a tar archive" in refusal(file("a.tar", stream.getvalue()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x.csv", "a,b\n")
    assert "a zip archive" in refusal(str(tmp_path / "a.zip"))
    assert 'the delimiter ";" does not occur' in refusal(file("a.csv", "a,label\n1,x\n"), delimiter=";")


def test_a_folder_of_classes_is_checked_as_it_is_trained_on(file, tmp_path):
    file("pets/cat.txt", "tom\nfelix\n")
    file("pets/dog.txt", "rex\n")
    data = read(str(tmp_path / "pets"), require_labels=False)
    assert data.labels.tolist() == ["cat", "cat", "dog"]
    assert read(file("t.csv", "a,b\n1,x\n2,y\n"), require_labels=False).labels is None


def test_a_file_without_objects_is_refused(tmp_path):
    np.savez(tmp_path / "none.npz", X=np.zeros((0, 4)), y=np.zeros(0))
    assert "there are no objects in it" in refusal(tmp_path / "none.npz")


@pytest.mark.parametrize(
    ("indicator", "edges", "labels", "message"),
    [
        (
            "1\n1\n2000000000\n",
            "1, 2\n",
            None,
            "d_graph_indicator.txt:3: graph 2,000,000,000, but there are only 3 nodes",
        ),
        ("1\n1\n2000000000\n", "1, 2\n", "1\n2\n", "d_graph_labels.txt: 2 labels for 2,000,000,000 graphs"),
        ("1\n1\n1e300\n", "1, 2\n", "1\n", 'd_graph_indicator.txt:3: "1e+300" is not the number of a node or graph'),
        ("1\n1\n1\n", "1, 2.5\n", "1\n", 'd_A.txt:1: "1 2.5" is not the number of a node or graph'),
        ("\n", "1, 2\n", "1\n", "nodes must be listed graph by graph"),
        ("1\n1\n", "1, 2000000000\n", "1\n", "an edge to a node that does not exist"),
    ],
)
def test_absurd_numbers_in_tu_folders(tmp_path, indicator, edges, labels, message):
    (tmp_path / "d_A.txt").write_text(edges)
    (tmp_path / "d_graph_indicator.txt").write_text(indicator)
    if labels is not None:
        (tmp_path / "d_graph_labels.txt").write_text(labels)
    assert message in refusal(tmp_path)


def test_edge_labels_stay_with_their_edges(tmp_path):
    """Edges in no order at all: each label belongs to the line that it stands on."""
    (tmp_path / "d_graph_indicator.txt").write_text("1\n1\n1\n2\n2\n")
    (tmp_path / "d_graph_labels.txt").write_text("1\n2\n")
    lines = [(4, 5, 9), (1, 2, 3), (3, 2, 7), (5, 4, 9), (2, 1, 3), (2, 3, 7)]
    (tmp_path / "d_A.txt").write_text("".join(f"{a}, {b}\n" for a, b, _ in lines))
    (tmp_path / "d_edge_labels.txt").write_text("".join(f"{label}\n" for *_, label in lines))
    graphs = read(tmp_path).objects
    starts = np.repeat(np.arange(len(graphs.bounds) - 1), np.diff(graphs.bounds))
    wanted = [{(0, 1): 3, (1, 0): 3, (1, 2): 7, (2, 1): 7}, {(0, 1): 9, (1, 0): 9}]
    for number, expected in enumerate(wanted):
        first, last = graphs.offsets[number : number + 2]
        own = (starts >= first) & (starts < last)
        ends = zip(starts[own] - first, graphs.neighbours[own], strict=True)
        found = {(int(a), int(b)): int(label) for (a, b), label in zip(ends, graphs.edge_labels[own], strict=True)}
        assert found == expected


@pytest.mark.parametrize("order", ["<", ">"])
def test_text_in_arrays_that_is_none(tmp_path, order):
    labels = np.array(["cat", "dog"] * 5, dtype=f"{order}U3")
    np.savez(tmp_path / "a.npz", X=np.arange(20.0).reshape(10, 2), y=labels)
    assert read(tmp_path / "a.npz").labels.tolist() == labels.tolist()
    labels.view(f"{order}u4")[4] = 0x110000
    np.savez(tmp_path / "a.npz", X=np.arange(20.0).reshape(10, 2), y=labels)
    with pytest.raises(DataFileError, match="stand for no character"):
        read(tmp_path / "a.npz")
