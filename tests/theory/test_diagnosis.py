"""Diagnoses where the answer is known: the lecture's matrices, planted faults, degenerate data, real data."""

import json
import re

import numpy as np
import pytest
import scipy.sparse as sp

from mercer import diagnose, kernels
from mercer.errors import InputError, ParameterError
from tests.kernels.graphs.realdata import as_graphs

GOOD = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]], dtype=float)
LABELS = [1, 1, 2, 2, 2]
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 60)
BLOBS = RNG.normal(size=(120, 2)) + 3 * Y[:, None]


def names(found):
    return [finding.name for finding in found.findings]


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


def test_widths():
    narrow = diagnose(kernels.RBF(1e4), BLOBS, Y)
    assert narrow.verdict == "diagonal"
    assert narrow.widths[0].too == "narrow"
    assert "smaller gamma" in narrow.next_step
    wide = diagnose(kernels.RBF(1e-9), BLOBS, Y)
    assert wide.verdict == "constant"
    assert wide.widths[0].too == "wide"
    assert "larger gamma" in wide.next_step
    for found in (narrow, wide):
        again = diagnose(kernels.RBF(found.widths[0].suggested), BLOBS, Y)
        assert again.verdict == "good"
        assert again.widths[0].too == ""
    without = diagnose(kernels.RBF(1e4), BLOBS).widths[0]
    squared = ((BLOBS[:, None] - BLOBS) ** 2).sum(axis=2)[np.triu_indices(120, 1)]
    assert without.suggested == pytest.approx(1 / np.median(squared), rel=1e-2)
    assert [one.kernel for one in diagnose(kernels.Linear() + kernels.Laplacian(2.0), BLOBS).widths] == [
        "laplacian(gamma=2.0)"
    ]


SERIES = [list(np.sin(np.linspace(0, 3 + 2 * (i % 2), 12)) + 0.05 * i) for i in range(40)]
MIXTURE = kernels.on(["a", "b"], kernels.RBF(1e4)) + kernels.on("word", kernels.Spectrum(1))
WIDTHS = {
    "gamma": ([kernels.RBF, kernels.Laplacian, kernels.Exponential], 1e4, 1e-7),
    "length_scale": ([kernels.Matern, kernels.RationalQuadratic, kernels.Periodic], 1e-4, 1e5),
}


@pytest.mark.parametrize(
    ("kind", "name", "sharp", "blunt"),
    [(kind, name, sharp, blunt) for name, (kinds, sharp, blunt) in WIDTHS.items() for kind in kinds],
)
@pytest.mark.parametrize("labels", [None, Y], ids=["without labels", "with labels"])
def test_widths_of_every_kind(kind, name, sharp, blunt, labels):
    """Too narrow and too wide are told, and the width suggested is neither, whatever the parameter is called."""
    X = BLOBS if kind is not kernels.Periodic else BLOBS / 20
    for size, too in ((sharp, "narrow"), (blunt, "wide")):
        if kind is kernels.RationalQuadratic and too == "narrow":
            size = 1e-9  # it falls off like a power, so it takes more
        found = diagnose(kind(**{name: size}), X, labels)
        (width,) = found.widths
        assert (width.parameter, width.value, width.too) == (name, pytest.approx(size), too)
        assert (width.suggested > size) == (width.direction == "larger")
        assert f"Try a {width.direction} {name}: {width.suggested:.3g}" in str(found)
        again = diagnose(kind(**{name: width.suggested}), X, labels).widths[0]
        assert again.too == ""
        if labels is None:
            assert again.exponent == pytest.approx(1.0, abs=0.05)


def test_widths_inside_other_kernels():
    both = diagnose(
        kernels.RBF(1e4) * kernels.Linear() + kernels.normalise(kernels.Matern(length_scale=1e-5)), BLOBS, Y
    )
    assert [(width.parameter, width.too) for width in both.widths] == [("gamma", "narrow"), ("length_scale", "narrow")]
    assert "rbf(gamma=10000.0): gamma = 1e+04" in str(both)
    over = diagnose(kernels.RBF(1e5, over=kernels.Polynomial(degree=2)), BLOBS, Y)
    assert [width.too for width in over.widths] == ["narrow"]
    words = ["ab" * (1 + i % 3) + "c" * (i // 60) for i in range(120)]
    strings = diagnose(kernels.RBF(1e5, over=kernels.Spectrum(1)), words, Y)
    assert [width.too for width in strings.widths] == ["narrow"]
    columns = {"a": BLOBS[:, 0].tolist(), "b": BLOBS[:, 1].tolist(), "word": words}
    table = diagnose(MIXTURE, columns, Y)
    assert [width.kernel for width in table.widths] == ["rbf(gamma=10000.0)"]
    assert table.widths[0].too == "narrow"
    assert diagnose(kernels.Polynomial(gamma=5.0) + kernels.RBF((1.0, 2.0)), BLOBS, Y).widths == ()


def test_widths_of_alignments():
    labels = np.arange(40) % 2
    for sigma, too in ((1e-3, "narrow"), (1e5, "wide"), ("median", "")):
        found = diagnose(kernels.normalise(kernels.GlobalAlignment(sigma=sigma)), SERIES, labels)
        (width,) = found.widths
        assert (width.parameter, width.too) == ("sigma", too)
        assert 0.05 < width.suggested < 50
    assert diagnose(kernels.GlobalAlignment(sigma=1e-3), SERIES).widths[0].by == "the rule of the kernel"


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


DEGENERATE = [
    (np.array([[1.0]]), [0]),
    (np.array([[1.0]]), None),
    (np.array([[1.0], [2.0]]), [0, 1]),
    (np.zeros((6, 2)), [0, 1, 0, 1, 0, 1]),
    (np.ones((6, 2)), [0, 0, 0, 0, 0, 0]),
    (np.eye(6), list("abcdef")),
    (1e-300 * np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]),
    (1e150 * np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]),
    (1e300 * np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 0, 1]),
    (np.repeat([[1.0, 2.0]], 30, axis=0), [0, 1] * 15),
    (np.arange(30.0)[:, None], np.arange(30.0)),
    (np.arange(30.0)[:, None], np.full(30, 2.5)),
]


@pytest.mark.parametrize("kernel", [kernels.RBF(), kernels.RBF(1.0), kernels.Linear(), kernels.Polynomial()], ids=str)
@pytest.mark.parametrize(("X", "y"), DEGENERATE)
def test_degenerate_data_are_reported(kernel, X, y):
    found = diagnose(kernel, X, y)
    assert found.verdict in ("good", "weak", "diagonal", "constant", "indefinite", "broken")
    assert found.reason
    assert found.next_step
    json.loads(found.to_json())
    assert found.headline in found.headline
    assert str(found)
    assert found._repr_html_()


@pytest.mark.parametrize("matrix", [np.zeros((4, 4)), np.ones((4, 4)), -np.eye(4), np.full((4, 4), 1e300), [[0.0]]])
def test_degenerate_matrices_are_reported(matrix):
    found = diagnose(matrix, y=[0, 1, 0, 1][: len(matrix)])
    json.loads(found.to_json())
    assert found.verdict != "good"


NAN = kernels.FromBlocks(lambda A, B: np.full((len(A), len(B)), np.nan))


@pytest.mark.parametrize(
    ("kernel", "objects", "reason"),
    [
        (kernels.RBF(), [], "There are no objects"),
        (kernels.Linear(), np.zeros((0, 3)), "There are no objects"),
        (kernels.Spectrum(2), [], "There are no objects"),
        (kernels.on("a", kernels.Spectrum(2)), {"a": []}, "There are no objects"),
        (np.zeros((0, 0)), None, "There are no objects"),
        ([], None, "There are no objects"),
        (np.ones((2, 3)), None, "2 rows and 3 columns"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), None, r"Entry \(0, 1\) is nan"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), None, "2 and 0"),
        (NAN, BLOBS, ""),
    ],
)
def test_what_cannot_be_looked_at_is_reported(kernel, objects, reason):
    for y in (None, [] if objects is None or len(objects) == 0 else Y):
        found = diagnose(kernel, objects, y)
        assert found.verdict == "broken"
        assert re.search(reason, found.reason)
        assert found.next_step
        json.loads(found.to_json())
        assert str(found)
        assert found._repr_html_()


def test_objects_of_other_kinds():
    words = ["gattaca", "gattica", "gatta", "gattacca", "gattaga", "ccgcg", "cgcgc", "cgccg", "gcgcc", "ccgcc"]
    assert diagnose(kernels.Spectrum(2), words, [1] * 5 + [0] * 5).verdict == "good"
    assert diagnose("spectrum(p=6)", words, [1] * 5 + [0] * 5).verdict != "good"
    assert diagnose(lambda A, B: A @ B.T, BLOBS, Y).verdict == "good"


def test_a_sample_of_many_and_the_same_seed():
    X = np.vstack([BLOBS] * 3) + 0.01 * np.random.default_rng(9).normal(size=(360, 2))
    found = diagnose(kernels.RBF(), X, np.tile(Y, 3), sample=100)
    assert (found.n, found.examined) == (360, 100)
    assert "100 of them looked at" in str(found)
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


@pytest.mark.realdata
class TestRealData:
    @pytest.mark.parametrize(
        ("name", "kernel", "verdict"),
        [
            ("vectors/fourclass", kernels.RBF(), "good"),
            ("vectors/sonar", kernels.RBF(), "good"),
            ("vectors/diabetes", kernels.RBF(), "weak"),
            ("vectors/fourclass", kernels.RBF(1e4), "diagonal"),
            ("vectors/fourclass", kernels.RBF(1e-9), "constant"),
            ("strings/splice_junction", kernels.WeightedDegree(5), "good"),
            ("strings/splice_junction", kernels.Spectrum(8), "diagonal"),
        ],
    )
    def test_known_verdicts(self, load, name, kernel, verdict):
        X, y = next(iter(load(name).values()))
        X = (
            list(X)
            if name.startswith("strings")
            else np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float)
        )
        assert diagnose(kernel, X, y, sample=300).verdict == verdict

    @pytest.mark.parametrize(
        ("name", "kernel", "verdict"),
        [
            ("MUTAG", kernels.normalise(kernels.WeisfeilerLehman(3)), "good"),
            ("MUTAG", kernels.ShortestPath(), "good"),
            ("MUTAG", kernels.WeisfeilerLehman(0), "good"),
            ("PTC_MR", kernels.normalise(kernels.WeisfeilerLehman(5)), "weak"),
        ],
    )
    def test_graphs(self, load, name, kernel, verdict):
        items, classes = as_graphs(load(f"graphs/{name}")["all"])
        found = diagnose(kernel, items, classes, sample=200)
        assert found.verdict == verdict
        assert found.kind == "graphs"
        assert found.labels.p_value < 0.05 or verdict == "weak"
        json.loads(found.to_json())

    def test_a_column_of_numbers_that_drowns_the_rest(self, load):
        """The first column of breast_cancer is the number of the patient."""
        X, y = load("vectors/breast_cancer")["all"]
        found = diagnose(
            kernels.RBF(), np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=float), y, sample=300
        )
        assert found.verdict == "weak"
        assert "Standardise" in found.next_step
