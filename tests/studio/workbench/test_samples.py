"""Every sample is read, described and can be learnt from."""

import pytest

from mercer.readers import read
from mercer.studio.refusal import Refusal
from mercer.studio.workbench.command import options_of
from mercer.studio.workbench.describe import describe
from mercer.studio.workbench.samples import SAMPLES, write_sample
from mercer.studio.workbench_routes import SAMPLES as OFFERED

TARGETS = {"pets": "pet", "demand": "demand", "binding": "state"}
KINDS = {
    "promoters": "strings",
    "postcards": "strings",
    "rings": "graphs",
    "sentences": "trees",
    "pictures": "vectors",
    "similarities": "gram",
}


def written(name, tmp_path):
    path = tmp_path / SAMPLES[name][0]
    assert write_sample({"name": name, "path": str(path)})
    return path


def test_the_server_offers_them_all():
    assert {name: file for name, (file, _) in SAMPLES.items()} == OFFERED


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_described(name, tmp_path):
    path = written(name, tmp_path)
    told = describe({"path": str(path)})
    assert told["kind"] == KINDS.get(name, "table")
    assert told["problem"] is None
    assert len(told["first"]) == 5
    if name in TARGETS:
        assert told["needs_target"]
        told = describe({"path": str(path), "target": TARGETS[name]})
    assert told["task"] == ("regression" if name == "demand" else "classification")
    data = read(str(path), options_of({"target": TARGETS.get(name)}))
    assert len(data) == 160


def test_sparse_vectors_are_shown_as_they_are_written(tmp_path):
    path = written("pictures", tmp_path)
    first = describe({"path": str(path)})["first"][0]
    label, *words = path.read_text().splitlines()[0].split()
    told = first["text"].removesuffix(" …").split()
    pairs = [[float(part) for part in word.split(":")] for word in told]
    assert first["label"] == label
    assert len(told) >= 5
    assert pairs == [[float(part) for part in word.split(":")] for word in words[: len(told)]]


def test_problems_have_their_line(tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("a,b,c\n1,2,x\n3,4\n5,6,y\n")
    told = describe({"path": str(path), "target": "c"})
    assert told["problem"]["line"] == 3
    assert "broken.csv" in told["problem"]["message"]


def test_a_column_that_is_not_there(tmp_path):
    path = written("pets", tmp_path)
    told = describe({"path": str(path), "target": "pets"})
    assert "pet" in told["problem"]["message"]


@pytest.mark.parametrize(
    ("more", "field"),
    [({"task": "x"}, "task"), ({"kernel": "rbf("}, "kernel"), ({"drop": "a"}, "drop"), ({"format": "doc"}, "format"),
     ({"seed": -1}, "seed"), ({"folds": 2.5}, "folds"), ({"balanced": 1}, "balanced"), ({"target": 3}, "target")],
)  # fmt: skip
def test_plans_that_cannot_be(tmp_path, more, field):
    with pytest.raises(Refusal) as caught:
        describe({"path": str(tmp_path / "x.csv"), **more})
    assert caught.value.field == field
