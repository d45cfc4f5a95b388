"""What is drawn is what was computed: artists and their data, not just that there is a picture."""

import math
import sys

import numpy as np
import pytest

from mercer import SVC, KernelPCA, KernelRidge, KernelSearchCV, SubgradientSVM, kernels
from mercer.errors import InputError, MissingExtraError, ParameterError
from mercer.plots import (
    EigenvalueDisplay,
    FeatureSpaceDisplay,
    GraphExplanationDisplay,
    KernelMatrixDisplay,
    KernelTrickDisplay,
    MarginDisplay,
    SequenceExplanationDisplay,
    SupportDisplay,
    TraceDisplay,
    ValidationSurfaceDisplay,
)
from mercer.plots.layout import layout

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

GOOD = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]], dtype=float)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 2)) + 2.0 * np.repeat([[0, 0], [1, 1]], 20, axis=0)
Y = np.repeat(["no", "yes"], 20)
WORDS = ["gattaca", "gattica", "gatta", "ccgcg", "cgcgc", "cgccg"]
SIDES = [1, 1, 1, 0, 0, 0]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def drawn(display):
    """Every picture can be rendered; empty ones are caught by their pixels."""
    display.figure_.canvas.draw()
    pixels = np.asarray(display.figure_.canvas.buffer_rgba())
    assert pixels[..., :3].std() > 3
    return display


class TestKernelMatrix:
    def test_blocks_by_class(self):
        mixed = [0, 2, 1, 3, 4]
        labels = np.array(["one", "one", "two", "two", "two"])[mixed]
        display = drawn(KernelMatrixDisplay.from_matrix(GOOD[np.ix_(mixed, mixed)], labels))
        assert labels[display.order].tolist() == ["one", "one", "two", "two", "two"]
        shown = np.asarray(display.im_.get_array())
        assert np.allclose(shown, GOOD[np.ix_(mixed, mixed)][np.ix_(display.order, display.order)])
        assert (shown[:2, 2:] == 0).all()
        assert len(display.bars_) == 4
        assert {text.get_text() for text in display.ax_.texts} == {"one", "two"}
        lengths = sorted(max(bar.get_width(), bar.get_height()) for bar in display.bars_)
        assert lengths == [2, 2, 3, 3]

    def test_seriation_finds_the_blocks_without_labels(self):
        rng = np.random.default_rng(1)
        shuffled = rng.permutation(40)
        display = drawn(KernelMatrixDisplay.from_kernel(kernels.RBF(0.5), 3 * X[shuffled], order="seriation"))
        sides = Y[shuffled][display.order]
        assert (sides[1:] != sides[:-1]).sum() < (Y[shuffled][1:] != Y[shuffled][:-1]).sum() / 2
        assert display.bars_ == []
        given = KernelMatrixDisplay.from_matrix(GOOD, order="given")
        assert given.order.tolist() == [0, 1, 2, 3, 4]

    def test_of_a_model(self):
        model = SVC(kernel=kernels.RBF(0.5)).fit(X, Y)
        display = drawn(KernelMatrixDisplay.from_estimator(model, X, Y))
        assert np.allclose(display.matrix, kernels.RBF(0.5).fit(X)(X))
        assert "rbf(gamma=0.5)" in display.ax_.get_title()

    def test_refusals(self):
        with pytest.raises(ParameterError, match="'order'"):
            KernelMatrixDisplay.from_matrix(GOOD, order="sorted")
        with pytest.raises(InputError, match="square"):
            KernelMatrixDisplay.from_matrix(np.ones((2, 3)))
        with pytest.raises(InputError, match="5 objects and 2 labels"):
            KernelMatrixDisplay.from_matrix(GOOD, [0, 1])


class TestEigenvalues:
    def test_of_the_lecture(self):
        display = drawn(EigenvalueDisplay.from_matrix(GOOD))
        assert display.points_.get_ydata().round(3).tolist() == [9.359, 5.0, 2.0, 1.0, 0.641]
        assert display.shares_.get_ydata()[-1] == pytest.approx(1.0)
        assert display.negative_ is None
        assert display.ax_.get_yscale() == "log"

    def test_negative_ones_are_marked(self):
        display = drawn(EigenvalueDisplay.from_matrix([[1.0, 2.0], [2.0, 1.0]]))
        assert display.negative_.get_ydata().tolist() == pytest.approx([1.0])
        assert "negative" in display.negative_.get_label()
        zero = drawn(EigenvalueDisplay.from_matrix(np.zeros((3, 3))))
        assert len(zero.points_.get_ydata()) == 0

    def test_centred(self):
        display = EigenvalueDisplay.from_kernel(kernels.Linear(), X, centre=True)
        assert display.eigenvalues[:2] == pytest.approx(np.linalg.eigvalsh(np.cov(X.T) * 39)[::-1])
        assert "HKH" in display.ax_.get_ylabel()


class TestMargin:
    @pytest.mark.parametrize("kernel", ["linear", "rbf"])
    def test_boundary_margins_support_and_slack(self, kernel):
        model = SVC(kernel=kernel, C=1.0).fit(X, Y)
        display = drawn(MarginDisplay.from_estimator(model, X, Y))
        assert display.contour_.levels.tolist() == [-1, 0, 1]
        for level, segments in zip(display.contour_.levels, display.contour_.allsegs, strict=True):
            assert np.allclose(model.decision_function(np.vstack(segments)), level, atol=0.05)
        assert np.allclose(display.support_.get_offsets(), X[model.support_])
        signs = np.where(Y == "yes", 1, -1)
        assert np.allclose(display.slack, np.maximum(0, 1 - signs * model.decision_function(X)))
        assert len(display.slack_) == (display.slack > 1e-2).sum() > 0
        for line in display.slack_:  # from the object to its own margin
            ends = np.column_stack(line.get_data())
            sign = signs[np.abs(X - ends[0]).sum(axis=1).argmin()]
            assert sign * model.decision_function(ends[1:])[0] == pytest.approx(1.0, abs=0.05)
        legend = {text.get_text() for text in display.ax_.get_legend().get_texts()}
        assert {"no", "yes", "slack", "f = 0", f"{len(model.support_)} support vectors"} <= legend

    def test_refusals(self):
        with pytest.raises(InputError, match="two features"):
            MarginDisplay.from_estimator(
                SVC().fit(np.ones((4, 3)) * np.arange(4)[:, None], [0, 0, 1, 1]), np.ones((4, 3)), [0] * 4
            )
        with pytest.raises(InputError, match="this model has 3"):
            MarginDisplay.from_estimator(SVC().fit(X[:30], np.arange(30) % 3), X, Y)


class TestFeatureSpace:
    @pytest.mark.parametrize(("lift", "width"), [("parabola", 2), ("paraboloid", 3), ("xor", 2)])
    def test_lifts_of_the_lectures_separate(self, lift, width):
        display = drawn(FeatureSpaceDisplay.from_lift(lift))
        assert display.features.shape[1] == width
        assert display.separated
        assert display.boundary_ is not None
        assert len(display.axes_) == 2
        assert SVC(kernel="linear", C=1e4).fit(display.X, display.y).score(display.X, display.y) < 1.0

    def test_values(self):
        points = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 0.5]])
        lifted = FeatureSpaceDisplay.from_lift("paraboloid", points, [0, 1, 0]).features
        assert np.allclose(lifted, np.column_stack([points, (points**2).sum(axis=1)]))
        flat = FeatureSpaceDisplay.from_lift("paraboloid", points, [0, 1, 0]).axes_[0]
        assert (flat.get_xlabel(), flat.get_ylabel()) == ("x₁", "x₂")
        corners = FeatureSpaceDisplay.from_lift("xor").features
        assert np.allclose(corners, [[math.exp(-2), 1], [math.exp(-1)] * 2, [math.exp(-1)] * 2, [1, math.exp(-2)]])

    @pytest.mark.parametrize("width", [2, 3])
    def test_kernel_pca(self, width):
        display = drawn(FeatureSpaceDisplay.from_kernel(kernels.Spectrum(2), WORDS, SIDES, n_components=width))
        assert np.allclose(display.features, KernelPCA(width, kernel=kernels.Spectrum(2)).fit_transform(WORDS))
        assert len(display.axes_) == 1
        assert len(display.axes_[0].collections) == 2

    def test_refusals(self):
        with pytest.raises(ParameterError, match="'lift'"):
            FeatureSpaceDisplay.from_lift("cube")
        with pytest.raises(InputError, match="takes 1 feature"):
            FeatureSpaceDisplay.from_lift("parabola", X, Y)


def test_traces():
    one = SubgradientSVM(method="batch").fit(X, Y)
    two = SubgradientSVM(method="stochastic", random_state=0).fit(X, Y)
    display = drawn(TraceDisplay.from_estimator(one, two, names=["batch", "stochastic"]))
    assert np.array_equal(display.lines_[0].get_ydata(), one.trace_.values)
    assert np.array_equal(display.lines_[1].get_xdata(), two.trace_.steps)
    assert display.lines_[0].get_linestyle() != display.lines_[1].get_linestyle()
    assert "objective" in display.ax_.get_ylabel()
    again = drawn(TraceDisplay.from_traces({"batch": one.trace_}))
    assert np.array_equal(again.lines_[0].get_ydata(), one.trace_.values)
    with pytest.raises(InputError, match="keeps no trace"):
        TraceDisplay.from_estimator(SVC().fit(X, Y))
    with pytest.raises(InputError, match="got none"):
        TraceDisplay.from_traces({})


class TestSupport:
    @pytest.mark.parametrize("model", [SVC(), KernelRidge()], ids=str)
    def test_bars_add_up_to_the_prediction(self, model):
        model = model.set_params(kernel=kernels.Spectrum(2)).fit(WORDS, SIDES)
        display = drawn(SupportDisplay.from_estimator(model, "gattc", most=2))
        decide = getattr(model, "decision_function", model.predict)
        expected = decide(["gattc"])[0]
        assert display.value == pytest.approx(expected)
        assert sum(bar.get_width() for bar in display.bars_) == pytest.approx(expected)
        assert len(display.bars_) == 4
        sizes = np.abs([bar.get_width() for bar in display.bars_][:2])
        assert (np.diff(sizes) <= 0).all()
        labels = [text.get_text() for text in display.ax_.get_yticklabels()]
        assert labels[-1] == "b"
        assert "others" in labels[-2]
        assert labels[0].strip("'") in WORDS

    @pytest.mark.parametrize(("option", "value"), [("output", 1), ("output", -1), ("most", 0)])
    def test_numbers_out_of_range(self, option, value):
        with pytest.raises(ParameterError, match=f"'{option}' parameter of SupportDisplay"):
            SupportDisplay.from_estimator(SVC().fit(X, Y), X[0], **{option: value})

    def test_vectors_have_coordinates(self):
        display = drawn(SupportDisplay.from_estimator(SVC().fit(X, Y), X[0]))
        assert drawn(SupportDisplay.from_estimator(SVC().fit(X, Y), X[:1])).value == display.value
        for several in (X[:2], [X[0], X[1]]):
            with pytest.raises(InputError, match="explains one object"):
                SupportDisplay.from_estimator(SVC().fit(X, Y), several)
        assert display.names[0].startswith("(")
        one = drawn(SupportDisplay.from_estimator(SVC().fit(X, Y), X[0], most=1))
        assert len(one.bars_) == 3  # one object, the others, and b
        with pytest.raises(ParameterError, match="'most'"):
            SupportDisplay.from_estimator(SVC().fit(X, Y), X[0], most=0)
        with pytest.raises(InputError, match="no kernel machine"):
            SupportDisplay.from_estimator(SVC(), X[0])


class TestValidationSurface:
    def test_scores_are_those_of_a_search(self):
        from sklearn.model_selection import GridSearchCV, StratifiedKFold

        folds = StratifiedKFold(3, shuffle=True, random_state=2)
        C, gamma = [0.1, 10.0], [0.05, 0.5, 50.0]
        display = drawn(ValidationSurfaceDisplay.from_data(X, Y, C=C, gamma=gamma, cv=folds))
        search = GridSearchCV(SVC(), {"C": C, "gamma": gamma}, cv=folds).fit(X, Y)
        again = ValidationSurfaceDisplay.from_cv_results(search.cv_results_)
        assert np.allclose(display.scores, again.scores)
        assert np.allclose(np.asarray(display.im_.get_array()), display.scores)
        assert display.best[2] == pytest.approx(search.best_score_)
        corner = np.array(display.best_.get_xy()) + 0.5
        assert (C[int(corner[0])], gamma[int(corner[1])]) == display.best[:2]
        assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("C", "gamma")

    def test_the_usual_grid(self):
        display = ValidationSurfaceDisplay.from_data(X, Y, cv=2)
        assert pytest.approx([0.01, 0.1, 1, 10, 100, 1000]) == display.C
        assert display.gamma[1:] / display.gamma[:-1] == pytest.approx([4.0] * (len(display.gamma) - 1))
        for unit in (1e-3, 1e3):  # other units of the columns are other units of gamma
            assert ValidationSurfaceDisplay.from_data(unit * X, Y, cv=2, C=[1.0]).gamma == pytest.approx(
                display.gamma / unit**2
            )

    def test_of_a_shared_search(self):
        C, gamma = [0.1, 1.0, 10.0], [0.05, 0.5, 50.0]
        search = KernelSearchCV(SVC(), {"C": C, "gamma": gamma}, cv=4).fit(X, Y)
        display = drawn(ValidationSurfaceDisplay.from_cv_results(search.cv_results_))
        means = dict(zip([(p["C"], p["gamma"]) for p in search.cv_results_["params"]],
                         search.cv_results_["mean_test_score"], strict=True))  # fmt: skip
        for (row, column), value in np.ndenumerate(np.asarray(display.im_.get_array())):
            assert value == means[display.C[column], display.gamma[row]]
        assert display.best[2] == search.best_score_
        texts = [text.get_text() for text in display.ax_.texts]
        assert texts == [f"{value:.2f}" for value in display.scores.ravel()]

    def test_of_pipelines_and_of_settings_without_numbers(self):
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        pipe = make_pipeline(StandardScaler(), SVC())
        grid = [{"svc__C": [0.1, 1.0], "svc__gamma": [0.1, "scale", 1.0]}, {"svc__kernel": ["linear"], "svc__C": [7.0]}]
        search = KernelSearchCV(pipe, grid, cv=4).fit(X, Y)
        names = {"C": "param_svc__C", "gamma": "param_svc__gamma"}
        display = drawn(ValidationSurfaceDisplay.from_cv_results(search.cv_results_, **names))
        assert (display.C.tolist(), display.gamma.tolist()) == ([0.1, 1.0], [0.1, 1.0])
        assert np.isfinite(display.scores).all()
        with pytest.raises(InputError, match="No setting has a number"):
            ValidationSurfaceDisplay.from_cv_results(
                KernelSearchCV(pipe, {"svc__C": [1.0], "svc__gamma": ["scale"]}).fit(X, Y).cv_results_, **names
            )

    def test_settings_that_were_not_tried_are_left_out(self):
        search = KernelSearchCV(SVC(), {"C": [0.1, 1.0], "gamma": [0.1, 1.0]}, cv=5).fit(X, Y)
        results = {**search.cv_results_, "mean_test_score": search.cv_results_["mean_test_score"].copy()}
        results["mean_test_score"][search.best_index_] = np.nan
        display = drawn(ValidationSurfaceDisplay.from_cv_results(results))
        assert np.isnan(display.scores).sum() == 1
        assert display.best[2] == np.nanmax(results["mean_test_score"])

    def test_refusals(self):
        with pytest.raises(ParameterError, match="'kernel'"):
            ValidationSurfaceDisplay.from_data(X, Y, kernel=kernels.Linear())
        with pytest.raises(InputError, match="no 'param_gamma'"):
            ValidationSurfaceDisplay.from_cv_results({"param_C": [1.0]})
        with pytest.raises(InputError, match="One score"):
            ValidationSurfaceDisplay([1.0], [1.0, 2.0], [[1.0]])


def test_kernel_trick():
    display = drawn(KernelTrickDisplay.from_measurement(n_features=4, degrees=(1, 2, 3), n=20, repeats=1))
    assert display.dimensions.tolist() == [5, 15, 35]
    assert np.array_equal(display.explicit_.get_ydata(), display.explicit_seconds)
    assert (display.kernel_seconds > 0).all()
    assert "35 features" in [text.get_text() for text in display.ax_.texts]
    with pytest.raises(InputError, match="monomials"):
        KernelTrickDisplay.from_measurement(n_features=100, degrees=(5,))


class TestSequence:
    def test_a_bar_for_each_symbol(self):
        model = SVC(kernel=kernels.Spectrum(2)).fit(WORDS, SIDES)
        display = drawn(SequenceExplanationDisplay.from_estimator(model, "gattacgcgc", per_line=6))
        assert [bar.get_height() for bar in display.bars_] == pytest.approx(display.contributions.tolist())
        assert display.value == pytest.approx(model.decision_function(["gattacgcgc"])[0])
        assert len(display.axes_) == 2
        assert [text.get_text() for text in display.axes_[0].get_xticklabels()] == list("gattac")
        assert all(bool(bar.get_hatch()) == (bar.get_height() <= 0) for bar in display.bars_)


class TestGraph:
    def test_nodes_are_coloured_by_their_contribution(self):
        networkx = pytest.importorskip("networkx")
        graphs = [networkx.path_graph(n) for n in (3, 4, 5)] + [networkx.cycle_graph(n) for n in (3, 4, 5)]
        model = SVC(kernel=kernels.WeisfeilerLehman(2), C=10.0).fit(graphs, SIDES)
        new = networkx.lollipop_graph(4, 3)
        display = drawn(GraphExplanationDisplay.from_estimator(model, new))
        assert np.allclose(np.asarray(display.nodes_.get_array()), display.contributions)
        assert display.value == pytest.approx(model.decision_function([new])[0])
        assert len(display.ax_.lines) == new.number_of_edges()
        assert len(display.texts_) == 7
        low, high = display.nodes_.get_clim()
        assert low == -high

    def test_molecules(self):
        pytest.importorskip("rdkit")
        from mercer.inputs.molecules import molecular_graphs

        molecules = molecular_graphs(["CCO", "CCCO", "CC(C)O", "CCN", "CCCN", "CC(C)N"])
        model = SVC(kernel=kernels.WeisfeilerLehman(1), C=10.0).fit(molecules, SIDES)
        display = drawn(GraphExplanationDisplay.from_smiles(model, "NCCO"))
        assert [text.get_text()[0] for text in display.texts_] == ["N", "C", "C", "O"]
        nitrogen, oxygen = display.contributions[0], display.contributions[3]
        assert nitrogen < 0 < oxygen

    def test_layout(self):
        cycle = np.roll(np.eye(6), 1, axis=1)
        places = layout(cycle)
        edges = np.linalg.norm(places - np.roll(places, -1, axis=0), axis=1)
        assert edges == pytest.approx([edges[0]] * 6, rel=1e-2)
        for n in (2, 3, 4):  # nodes in a line have a place for each distance
            path = layout(np.diag(np.ones(n - 1), 1))
            distances = np.linalg.norm(path[:, None] - path, axis=2)
            assert distances == pytest.approx(np.abs(np.subtract.outer(range(n), range(n))), abs=0.01)
        corners = layout(np.ones((3, 3)) - np.eye(3))
        assert np.linalg.norm(corners - np.roll(corners, 1, axis=0), axis=1) == pytest.approx([1, 1, 1], abs=0.01)
        apart = layout(np.zeros((3, 3)))
        assert np.linalg.norm(apart[:, None] - apart, axis=2)[np.triu_indices(3, 1)].min() > 1
        assert layout(np.zeros((0, 0))).shape == (0, 2)


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(MissingExtraError, match=r"mercer\[plots\]"):
        EigenvalueDisplay.from_matrix(GOOD)


def test_drawn_on_given_axes():
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    assert KernelMatrixDisplay.from_matrix(GOOD, ax=ax).ax_ is ax
