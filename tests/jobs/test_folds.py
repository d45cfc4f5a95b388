"""Folds forward in time: nothing is learnt from what comes later."""

import numpy as np
import pytest

import mercer
from mercer.errors import InputError
from mercer.jobs.folds import among, folds_for, tried


def test_groups_stay_together_and_leave_every_class():
    y, groups = np.arange(40) % 2, np.arange(40) // 4
    for task in ("classification", "regression"):
        splits = folds_for(y, task, 5, 0, groups)
        assert len(splits) == 5
        assert all(not set(groups[train]) & set(groups[test]) for train, test in splits)
    alone = np.where(np.arange(40) < 4, 1, 0)
    with pytest.raises(InputError, match="objects of one group alone"):
        folds_for(alone, "classification", 4, 0, groups)
    assert len(folds_for(alone, "regression", 4, 0, groups)) == 4
    with pytest.raises(InputError, match="All rows are of one group"):
        folds_for(y, "classification", 4, 0, np.zeros(40))


def test_one_object_is_too_few():
    with pytest.raises(InputError, match="Found 1 object"):
        folds_for(np.ones(1), "regression", 4, 0)
    assert len(folds_for(np.arange(2.0), "regression", 4, 0)) == 2


def test_machines_are_tried_on_later_rows():
    times = np.random.default_rng(0).permutation(np.repeat(np.arange(25.0), 4))
    splits = folds_for(np.arange(100.0), "regression", 4, 0, times=times)
    assert len(splits) == 4
    last = -np.inf
    for train, test in splits:
        assert times[train].max() < times[test].min()
        assert times[test].min() > last
        last = times[test].max()
    assert last == 24.0
    known = tried(splits)
    assert len(known) == len(np.unique(known)) < 100
    for (_, test), (others, own) in zip(splits, among(splits, known), strict=True):
        assert (known[own] == test).all()
        assert sorted([*others, *own]) == list(range(len(known)))


def test_every_class_is_known_before_machines_are_tried():
    times = np.arange(60.0)
    y = np.where(np.arange(60) % 2, "a", "b").astype("<U1")
    y[25] = y[41] = "c"
    splits = folds_for(y, "classification", 5, 0, times=times)
    assert [len(train) for train, _ in splits] == [30, 40, 50]
    with pytest.raises(InputError, match="only at the end"):
        folds_for(np.where(times > 57, "late", "early"), "classification", 5, 0, times=times)
    with pytest.raises(InputError, match="the same time"):
        folds_for(y, "classification", 5, 0, times=np.zeros(60))


def test_a_trend_is_not_mistaken_for_knowledge():
    """A random walk: neighbours in time tell each other's values, the future does not."""
    walk = np.cumsum(np.random.default_rng(4).normal(size=240))
    days = [str(np.datetime64("2020-01-01") + day) for day in range(240)]
    frame = {"day": days, "noise": np.random.default_rng(1).normal(size=240), "y": walk}
    shuffled = mercer.fit(frame, target="y", folds=4)
    forward = mercer.fit(frame, target="y", folds=4, time="day")
    assert shuffled.estimate.value > 0.8
    assert forward.estimate.value < 0.3
    assert any("a later" in note for note in forward.notes)
    assert "day" not in forward.model.preparation.numbers
    assert "day (week sine)" in forward.model.preparation.numbers
    kept = mercer.fit(frame, target="y", folds=4, time="day", keep=["day"], kernel="linear")
    assert "day" in kept.model.preparation.numbers
    assert forward.search.searched == 240 > len(forward.search.rows)
    assert forward.model.about["trained_on"] == 240
    assert len(forward.predict({"day": ["2021-03-04"], "noise": [0.0]})) == 1


def test_times_may_be_an_array():
    x = np.arange(80.0)
    found = mercer.fit({"x": np.sin(x)}, y=np.cos(x), time=x, folds=3, kernel="rbf")
    assert len(found.search.rows) == 60
    with pytest.raises(InputError, match="time has 3 values for 80"):
        mercer.fit({"x": np.sin(x)}, y=np.cos(x), time=[1, 2, 3])
    with pytest.raises(InputError, match="both say how folds are made"):
        mercer.fit({"x": np.sin(x)}, y=np.cos(x), time=x, group=x)
