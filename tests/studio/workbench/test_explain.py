"""What spoke for a prediction: exactly, where shares add up; else what a decision loses without a part."""

import numpy as np
import pytest

import mercer
from mercer.readers import read
from mercer.readers.options import Options
from mercer.studio import job
from mercer.studio.projects import read_events, write_json
from mercer.studio.workbench.command import asked
from mercer.studio.workbench.explain import explain
from mercer.studio.workbench.leaning import Leaning
from tests.studio.workbench.test_samples import TARGETS, written

KERNELS = {
    "pets": "auto",
    "demand": "on(['hour', 'temperature', 'wind'], rbf(gamma=0.3))",
    "binding": "on(['warmth', 'acidity'], rbf(gamma=2.0)) + on('sequence', normalise(spectrum(p=3)))",
    "promoters": "normalise(gap_weighted(p=2))",
    "postcards": "normalise(vector_space)",
    "molecules": "on('smiles', normalise(wl(h=2)), as_='smiles')",
    "rings": "normalise(wl(h=2))",
    "sentences": "normalise(subset_tree(decay=0.4))",
}


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The model of a sample and its file, trained once."""
    known = {}

    def of(name, kernel=None):
        kernel = kernel or KERNELS[name]
        if (name, kernel) not in known:
            folder = tmp_path_factory.mktemp(name)
            path = written(name, folder)
            plan = asked({"target": TARGETS.get(name), "kernel": kernel, "time_limit": 8.0})
            write_json(folder / "plan.json", {**plan, "path": str(path)})
            job.run(folder)
            assert read_events(folder / "events.jsonl")[0][-1]["type"] == "finished"
            known[name, kernel] = (folder / "model.mercer", path)
        return known[name, kernel]

    return of


def told_of(trained, name, kernel=None, most=3):
    model, path = trained(name, kernel)
    return mercer.load(model), path, explain({"model": str(model), "path": str(path), "most": most})


def read_again(model, path):
    return read(str(path), model.preparation.reading(Options(require_target=False, require_labels=False)))


@pytest.mark.parametrize("name", KERNELS)
def test_every_sample_is_taken_apart(trained, name):
    if name == "molecules":
        pytest.importorskip("rdkit")
    model, _, told = told_of(trained, name)
    assert len(told) == 3
    for one in told:
        assert len(one["sides"]) == 2
        inside = [column["inside"] for column in one["columns"] if column["inside"]]
        for part in [one, *inside]:
            assert len(part["parts"]) == len(part["shares"])
            if part["drawing"]:
                assert len(part["drawing"]["labels"]) == len(part["shares"])
        shares = [*one["shares"], *(column["share"] for column in one["columns"])]
        assert np.isfinite(shares).all()
        assert np.any(np.array(shares) != 0)
    assert told[0]["sides"] == (["lower", "higher"] if model.classes is None else told[0]["sides"])


@pytest.mark.parametrize("name", ["postcards", "rings"])
def test_exact_shares_add_up_to_the_decision(trained, name):
    model, path, told = told_of(trained, name)
    data = read_again(model, path)
    for row, one in enumerate(told):
        assert one["how"] == "exact"
        objects = model.objects(data.take(np.array([row])))
        intercept = model.estimator.explain(objects)[0].intercept[0]
        assert sum(one["shares"]) + intercept == pytest.approx(model.decisions(objects)[0, 0], abs=1e-9)
        if name == "postcards":
            assert "".join(one["parts"]) == data.objects[row]


def test_a_letter_is_worth_what_the_decision_loses_without_it(trained):
    model, path, told = told_of(trained, "promoters", most=1)
    text = read_again(model, path).objects[0]
    assert "".join(told[0]["parts"]) == text
    assert told[0]["how"] == "unknown"
    whole = model.decisions(model.objects([text]))[0, 0]
    for place in (0, 7, len(text) - 1):
        without = text[:place] + "\ue000" + text[place + 1 :]
        expected = whole - model.decisions(model.objects([without]))[0, 0]
        assert told[0]["shares"][place] == pytest.approx(expected, abs=1e-9)


def test_a_column_is_worth_what_the_prediction_loses_at_its_median(trained):
    model, path, told = told_of(trained, "demand", most=1)
    data = read_again(model, path)
    one = data.take(np.array([0]))
    hour = np.median(data.objects["hour"].values)
    changed = {name: column.values for name, column in one.objects.items() if name != "demand"}
    expected = model.predict(changed)[0] - model.predict({**changed, "hour": np.array([hour])})[0]
    assert told[0]["columns"][0]["name"] == "hour"
    assert told[0]["columns"][0]["share"] == pytest.approx(expected, abs=1e-6)
    assert [column["name"] for column in told[0]["columns"]] == ["hour", "temperature", "wind"]


def test_letters_within_a_column(trained):
    _, _, told = told_of(trained, "binding")
    column = next(column for column in told[0]["columns"] if column["name"] == "sequence")
    assert "".join(column["inside"]["parts"]) == column["value"]
    assert column["share"] == pytest.approx(sum(column["inside"]["shares"]))


def test_the_group_of_a_molecule_speaks_for_its_class(trained):
    pytest.importorskip("rdkit")
    model, path, told = told_of(trained, "molecules", most=40)
    labels = read(str(path)).labels
    right = 0
    for one, label in zip(told, labels, strict=False):
        assert one["sides"][0] == "others"
        part = one["columns"][0]["inside"]
        heaviest = part["drawing"]["labels"][int(np.argmax(part["shares"]))]
        right += one["sides"][1] == label and heaviest in ("N" if label == "amine" else "OC")
    assert right >= 0.9 * len(told)
    assert len(model.classes) == 3


def test_more_than_two_classes_lean_towards_the_one_that_is_predicted(trained):
    pytest.importorskip("rdkit")
    model, path, _ = told_of(trained, "molecules")
    one = read_again(model, path).take(np.array([5]))
    lean = Leaning.of(model, one)
    assert str(model.predict(one)[0]) == lean.sides[1]
    assert lean(one)[0] > 0


def test_nodes_become_unknown_where_a_kernel_has_no_features(trained):
    _, _, told = told_of(trained, "rings", "normalise(wl_oa(h=2))")
    assert told[0]["how"] == "unknown"
    assert len(told[0]["shares"]) == len(told[0]["drawing"]["places"])
    assert np.any(np.array(told[0]["shares"]) != 0)


def test_what_cannot_be_read_is_left_out(trained, tmp_path):
    model, _ = trained("pets")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    assert explain({"model": str(model), "path": str(tmp_path / "other.csv")}) is None
