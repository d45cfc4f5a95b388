"""Rows that belong together stay together: folds, scores and resamples."""

import numpy as np
import pytest

import mercer
from mercer.errors import InputError
from mercer.jobs.fitting import fit
from mercer.jobs.folds import folds_for
from mercer.jobs.problem import Plan
from mercer.readers import read


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """Patients with ten visits each: what is measured tells the patient, and nothing tells the diagnosis."""
    random = np.random.default_rng(3)
    rows = []
    for patient in range(30):
        own, sick = random.normal(size=4), patient % 2
        for _ in range(10):
            seen = own + 0.05 * random.normal(size=4)
            rows.append(",".join([f"p{patient}", *(f"{value:.4f}" for value in seen), ("well", "ill")[sick]]))
    file = tmp_path_factory.mktemp("groups") / "t.csv"
    file.write_text("patient,a,b,c,d,y\n" + "\n".join(rows))
    return file


def test_a_group_is_never_in_two_folds(path):
    data = read(path, target="y", group="patient")
    assert "patient" not in data.objects
    for task, y in (("classification", data.labels), ("regression", np.arange(300.0))):
        splits = folds_for(y, task, 5, 0, data.groups)
        assert sorted(np.concatenate([test for _, test in splits]).tolist()) == list(range(300))
        for train, test in splits:
            assert not set(data.groups[train]) & set(data.groups[test])


def test_the_score_is_about_new_groups(path):
    known = fit(read(path, target="y", drop=("patient",)), Plan(kernel="rbf(gamma=1)", folds=5))
    new = fit(read(path, target="y", group="patient"), Plan(kernel="rbf(gamma=1)", folds=5))
    assert known.estimate.value > 0.95
    assert new.estimate.value < 0.75
    assert new.estimate.high - new.estimate.low > 2 * (known.estimate.high - known.estimate.low)
    assert any("30 groups" in note for note in new.notes)
    assert new.predict({name: [0.0] for name in "abcd"}).tolist()[0] in ("well", "ill")


def test_what_cannot_be_grouped(path):
    data = read(path, target="y", group="patient")
    with pytest.raises(InputError, match="one group"):
        folds_for(data.labels, "classification", 5, 0, np.zeros(300))
    with pytest.raises(InputError, match="of one group alone"):
        folds_for(np.array(["a"] * 10 + ["b"] * 290), "classification", 5, 0, data.groups)
    with pytest.raises(mercer.errors.DataFileError, match="no column"):
        read(path, target="y", group="doctor")
