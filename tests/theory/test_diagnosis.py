"""Diagnoses where the answer is known: the lecture's matrices, planted faults, degenerate data, real data."""

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import diagnose, kernels
from mercer.errors import InputError, ParameterError
from mercer.theory.diagnosing.targets import target_of
from tests.theory.diagnosed import BLOBS, GOOD, LABELS, Y, names


def test_the_matrices_of_the_lecture():
    good = diagnose(GOOD, y=LABELS)
    assert good.verdict == "good"
    assert good.good
    assert (good.labels.within, good.labels.between) == (pytest.approx(2 / 3), 0.0)
    assert good.labels.neighbours == 1.0
    assert good.labels.chance == pytest.approx(0.4)
    assert good.labels.p_value is None
    assert "few objects" in names(good)
    assert good.mercer.smallest == pytest.approx(0.6411, abs=1e-4)
    bad = diagnose(np.eye(5), y=LABELS)
    assert bad.verdict == "diagonal"
    assert bad.shape.diagonal_dominance == 1.0
    assert bad.shape.flatness == pytest.approx(1.0)
    assert bad.labels.neighbours == pytest.approx(0.4)
    assert diagnose(np.eye(5)).verdict == "diagonal"


@pytest.mark.parametrize("kernel", [kernels.RBF(0.5), kernels.RBF()], ids=str)
def test_irrelevant_features_make_a_matrix_diagonal(kernel):
    """The lecture's claim: a space with too many irrelevant features makes the matrix diagonal. The advice says so."""
    assert diagnose(kernel, BLOBS, Y).verdict == "good"
    flatness = []
    for extra in (0, 30, 1500):
        X = np.hstack([BLOBS, np.random.default_rng(1).normal(size=(120, extra))])
        found = diagnose(kernel, X, Y)
        flatness.append(found.shape.flatness)
    assert flatness == sorted(flatness)
    assert found.verdict == "diagonal"
    assert "irrelevant features" in names(found)
    assert "Drop irrelevant features" in found.next_step
    assert {0, 1} <= set(found.columns.relevant[:3])
    assert found.columns.irrelevant > 1300
    assert found.columns.relevant_alone > 0.8


def test_indefinite_and_broken():
    found = diagnose(kernels.Sigmoid(gamma=1.0, coef0=-1.0), BLOBS, Y)
    assert found.verdict == "indefinite"
    assert found.mercer.witness is not None
    lopsided = kernels.FromFunction(lambda a, b: float(a[0] * b[1]), objects="vectors")
    assert diagnose(lopsided, BLOBS, Y).verdict == "broken"
    assert "overflow" in diagnose(kernels.Polynomial(degree=60), 1e30 * BLOBS, Y).reason


def test_single_objects_that_stand_out():
    X = np.vstack([BLOBS, BLOBS[:2], [[40.0, -40.0]]])
    y = np.concatenate([Y, [0, 1], [1]])
    found = diagnose(kernels.Linear(), X, y)
    assert found.standing.duplicates == 2
    assert found.standing.duplicate_pairs == ((0, 120), (1, 121))
    assert found.standing.conflicting_pairs == ((1, 121),)
    assert found.standing.conflicting == 2
    assert found.standing.outliers[0] == 122
    assert {"leakage", "duplicates", "outliers"} <= set(names(found))
    near = np.vstack([BLOBS, BLOBS[:1] + 1e-4])
    assert diagnose(kernels.Linear(), near, np.append(Y, 0)).standing.near_pairs == ((0, 120),)


def test_features_that_drown_or_give_away():
    X = np.column_stack([BLOBS, 1e4 * np.random.default_rng(2).normal(size=120)])
    found = diagnose(kernels.RBF(), X, Y)
    assert found.verdict == "weak"
    assert "unscaled features" in names(found)
    assert "StandardScaler" in found.next_step
    assert found.columns.widest == 2
    assert found.columns.standardised > found.columns.before + 0.2
    given = diagnose(kernels.RBF(), np.column_stack([BLOBS, 7.0 * Y, np.ones(120)]), Y)
    assert given.columns.giveaways == (2,)
    assert given.columns.constant == 1
    assert "leakage" in names(given)


def test_sparse_features():
    """The same advice as for dense vectors."""
    rng = np.random.default_rng(1)
    noise = np.where(rng.uniform(size=(120, 3000)) < 0.3, rng.normal(size=(120, 3000)), 0.0)
    X = np.hstack([BLOBS, noise, np.zeros((120, 4))])
    dense, sparse = (diagnose(kernels.RBF(), Z, Y) for Z in (X, sp.csr_array(X)))
    assert dense.verdict == sparse.verdict == "diagonal"
    assert "Drop irrelevant features" in sparse.next_step
    for name in ("count", "constant", "widest", "narrowest", "irrelevant", "relevant", "giveaways"):
        assert getattr(dense.columns, name) == getattr(sparse.columns, name), name
    for name in ("scale_ratio", "widest_share", "before", "relevant_alone"):
        assert getattr(dense.columns, name) == pytest.approx(getattr(sparse.columns, name), abs=1e-6), name
    wide = diagnose(kernels.RBF(), sp.csr_array(np.column_stack([BLOBS, 1e4 * rng.normal(size=120), 3.0 * Y])), Y)
    assert "unscaled features" in names(wide)
    assert "StandardScaler(with_mean=False)" in str(wide)
    assert wide.columns.giveaways == (3,)
    assert wide.columns.standardised > wide.columns.before + 0.2


def test_features_of_tables():
    rng = np.random.default_rng(1)
    columns = {f"noise {i}": rng.normal(size=120) for i in range(400)} | {"left": BLOBS[:, 0], "right": BLOBS[:, 1]}
    words = ["gatta" if i % 3 else "cgc" for i in range(120)]
    kernel = kernels.on(list(columns), kernels.RBF(0.1)) + 0.01 * kernels.on("word", kernels.Spectrum(2))
    found = diagnose(kernel, {**columns, "word": words}, Y)
    assert "irrelevant features" in names(found)
    assert "'left'" in str(found)
    assert {found.columns.names[i] for i in found.columns.relevant[:2]} == {"left", "right"}
    scaled = kernels.on(["left", "noise 1"], kernels.RBF())
    found = diagnose(scaled, {**columns, "noise 1": 1e5 * columns["noise 1"]}, Y)
    assert "Feature 'noise 1' varies" in str(found)
    assert diagnose(kernels.on("word", kernels.Spectrum(2)), {"word": words}, Y).columns is None


def test_random_labels_are_weak():
    y = np.random.default_rng(3).permutation(Y)
    found = diagnose(kernels.RBF(), BLOBS, y)
    assert found.verdict == "weak"
    assert found.labels.p_value > 0.05
    assert "no blocks" in names(found)
    assert diagnose(kernels.RBF(), BLOBS, Y).labels.p_value == pytest.approx(0.005)


def test_numbers_as_labels():
    t = np.linspace(0, 6, 80)[:, None]
    good = diagnose(kernels.RBF(), t, np.sin(t[:, 0]))
    assert good.verdict == "good"
    assert good.labels.kind == "numbers"
    assert good.labels.left_out > 0.95
    assert diagnose(kernels.RBF(), t, np.random.default_rng(0).normal(size=80)).verdict == "weak"


def test_leave_one_out_is_exact():
    """The closed form against machines trained without each object in turn."""
    from mercer.theory.diagnosing.targets import left_out_agreement, target_of

    rng = np.random.default_rng(5)
    X = rng.normal(size=(14, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=14)
    K = X @ X.T
    scale = np.trace(K - K.mean(0) - K.mean(1)[:, None] + K.mean()) / 14
    best = -np.inf
    for ridge in (1e-3, 1e-2, 1e-1, 1.0):
        errors = []
        for out in range(14):
            rest = np.delete(np.arange(14), out)
            mean = X[rest].mean(axis=0)
            A = X[rest] - mean
            w = np.linalg.solve(A.T @ A + ridge * scale * np.eye(2), A.T @ (y[rest] - y[rest].mean()))
            errors.append(y[out] - y[rest].mean() - (X[out] - mean) @ w)
        best = max(best, 1 - np.sum(np.square(errors)) / np.sum((y - y.mean()) ** 2))
    assert left_out_agreement(K, target_of(y, 14))[0] == pytest.approx(best, abs=1e-9)


def test_objects_of_other_kinds():
    words = ["gattaca", "gattica", "gatta", "gattacca", "gattaga", "ccgcg", "cgcgc", "cgccg", "gcgcc", "ccgcc"]
    assert diagnose(kernels.Spectrum(2), words, [1] * 5 + [0] * 5).verdict == "good"
    assert diagnose("spectrum(p=6)", words, [1] * 5 + [0] * 5).verdict != "good"
    assert diagnose(lambda A, B: A @ B.T, BLOBS, Y).verdict == "good"


def test_a_sample_of_many_and_the_same_seed():
    X = np.vstack([BLOBS] * 3) + 0.01 * np.random.default_rng(9).normal(size=(360, 2))
    found = diagnose(kernels.RBF(), X, np.tile(Y, 3), sample=100)
    assert (found.n, found.examined) == (360, 100)
    assert "100 of them examined" in str(found)
    again = diagnose(kernels.RBF(), X, np.tile(Y, 3), sample=100)
    strip = lambda one: {key: value for key, value in one.to_dict().items() if key != "cost"}  # noqa: E731
    assert strip(found) == strip(again)


def test_shown_in_a_notebook():
    found = diagnose(
        kernels.FromFunction(lambda a, b: float(a == b), objects="items"), ["<img onerror=x>", "b", "c", "d"]
    )
    shown = found._repr_html_()
    assert "data:image/png;base64" in shown
    assert "<img onerror" not in shown
    assert found.picture.shape == (4, 4)


def test_refusals():
    with pytest.raises(InputError, match="pass diagnose"):
        diagnose(np.eye(3), BLOBS)
    with pytest.raises(InputError, match="needs the objects"):
        diagnose(kernels.RBF())
    with pytest.raises(InputError, match="3 objects and labels of shape"):
        diagnose(np.eye(3), y=[1, 2])
    with pytest.raises(InputError, match="object 1 is nan"):
        diagnose(np.eye(3), y=[1.0, np.nan, 2.0])
    with pytest.raises(ParameterError, match="'sample'"):
        diagnose(np.eye(3), sample=1)


def test_cost_is_rehearsed():
    """What is rehearsed is a machine for the labels there are; times themselves are measured by a benchmark."""
    X = np.vstack([BLOBS] * 5)
    y = np.tile(Y, 5)
    for labels, machine in ((y, "SVC"), (np.digitize(X[:, 0], [0.0, 2.0, 3.0]), "SVC"), (X[:, 0] / 3, "KernelRidge")):
        cost = diagnose(kernels.RBF(), X, labels, sample=60).cost
        assert cost.machine == machine
        assert cost.gram_seconds > 0
        assert 0 < cost.training_seconds < 60
        assert 48 <= cost.rehearsed <= 600
        assert cost.gram_bytes == 600 * 600 * 8
        assert cost.fits
    alone = diagnose(kernels.RBF(), X)
    assert alone.cost.machine == ""
    assert alone.cost.training_seconds == alone.cost.gram_seconds
    assert "for SVC" in str(diagnose(kernels.RBF(), X, y))
    rare = diagnose(kernels.RBF(), X, np.arange(600) == 7)
    assert rare.cost.machine == "SVC"


def test_cost_beyond_memory(monkeypatch):
    from mercer.gram import budget

    monkeypatch.setattr(budget, "available_bytes", lambda: 2_000_000)
    found = diagnose(kernels.RBF(), np.vstack([BLOBS] * 5), np.tile(Y, 5), sample=100)
    assert not found.cost.fits
    assert "cost" in names(found)
    assert "does not fit" in found.cost.advice


def test_only_what_is_flat_is_said_to_be_diagonal():
    assert "diagonal" in names(diagnose(np.eye(8)))
    assert "diagonal" not in names(diagnose(np.eye(3)))  # too few to tell
    assert "diagonal" not in names(diagnose(kernels.RBF(0.1), BLOBS, Y))


@pytest.mark.parametrize("labels", [["a", 1, "b"], ["a", None, "b"]])
def test_labels_are_of_one_type(labels):
    with pytest.raises(InputError, match="Labels must all have the same type, and none may be missing"):
        target_of(np.array(labels, dtype=object), 3)
