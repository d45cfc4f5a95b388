"""Pictures of the playground are those of the library, and the Python that is shown makes the same."""

import json
import warnings

import numpy as np
import pytest

from mercer import SVC, SVR, OneClassSVM
from mercer._registry import KERNELS
from mercer.kernels import parse
from mercer.studio.playground.machine import GRID, grid_points
from mercer.studio.playground.packing import unpacked
from mercer.studio.playground.picture import picture
from mercer.studio.refusal import Refusal


def scene(n=30, seed=0, classes=2, **more):
    rng = np.random.default_rng(seed)
    points = np.round(rng.normal(size=(n, 2)), 2).clip(-3, 3)
    kinds = (points @ [1.0, 0.5] > 0).astype(int) if classes == 2 else np.arange(n) % classes
    return {"points": [[float(x), float(y), int(kind)] for (x, y), kind in zip(points, kinds, strict=True)], **more}


def arrays(told):
    points = np.array([row[:2] for row in told["points"]])
    return points, np.array([row[2] for row in told["points"]])


@pytest.mark.parametrize(
    "kernel", ["rbf(gamma=0.7)", "linear", "poly(degree=3, gamma=1, coef0=1)", "rbf(gamma=2) + 0.5*linear"]
)
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_the_boundary_is_that_of_svc(kernel, C):
    told = scene(kernel=kernel, C=C)
    X, y = arrays(told)
    answer = picture(told)
    expected = SVC(kernel=kernel, C=C, tol=1e-6).fit(X, y)
    grid = unpacked(answer["machine"]["grid"]).ravel()
    values = expected.decision_function(grid_points("classification"))
    assert np.abs(grid - values).max() <= 1e-6 * max(1.0, np.abs(values).max())
    assert answer["machine"]["support"] == expected.support_.tolist()
    slack = np.maximum(0, 1 - np.where(y == 1, 1, -1) * expected.decision_function(X))
    np.testing.assert_allclose(answer["machine"]["slack"], slack, atol=1e-4)


def test_three_classes_win_where_svc_says():
    told = scene(classes=3, kernel="rbf(gamma=0.5)")
    X, y = arrays(told)
    leads = unpacked(picture(told)["machine"]["grid"]).reshape(-1, 3)
    predicted = SVC(kernel="rbf(gamma=0.5)", tol=1e-6).fit(X, y).predict(grid_points("classification"))
    clear = leads.max(axis=1) > 1e-6
    assert clear.mean() > 0.9
    assert (leads.argmax(axis=1) == predicted)[clear].all()


def test_regression_and_novelty():
    told = scene(task="regression", kernel="rbf(gamma=1)", C=5.0, epsilon=0.3)
    X, _ = arrays(told)
    model = SVR(kernel="rbf(gamma=1)", C=5.0, epsilon=0.3, tol=1e-6).fit(X[:, :1], X[:, 1])
    values = unpacked(picture(told)["machine"]["grid"]).ravel()
    np.testing.assert_allclose(values, model.predict(grid_points("regression")), atol=1e-6)
    told = scene(task="novelty", kernel="rbf(gamma=1)", nu=0.2)
    region = OneClassSVM(kernel="rbf(gamma=1)", nu=0.2, tol=1e-6).fit(X)
    values = unpacked(picture(told)["machine"]["grid"]).ravel()
    np.testing.assert_allclose(values, region.decision_function(grid_points("novelty")), atol=1e-6)


def test_a_hard_margin_that_does_not_exist_is_proven_not_to():
    told = scene(kernel="linear", C="inf")
    told["points"] += [[-2.0, -2.0, 1], [2.0, 2.0, 0]]
    X, y = arrays(told)
    answer = picture(told)
    assert answer["machine"] is None
    weights = np.array(answer["proof"]["weights"])
    np.testing.assert_allclose(weights[y == 0] @ X[y == 0], weights[y == 1] @ X[y == 1], atol=1e-5)
    assert "No hyperplane" in answer["sentences"][0]


def test_the_views_are_of_the_gram_matrix():
    told = scene(kernel="rbf(gamma=0.5)")
    X, _ = arrays(told)
    views = picture(told)["views"]
    K = parse("rbf(gamma=0.5)").fit(X)(X)
    order = views["gram"]["order"]
    assert sorted(order) == list(range(len(X)))
    np.testing.assert_allclose(unpacked(views["gram"]["values"]), K[np.ix_(order, order)], atol=1e-6)
    np.testing.assert_allclose(views["spectrum"], np.linalg.eigvalsh(K)[::-1][:40], atol=1e-9)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    components = np.array(views["components"])
    np.testing.assert_allclose(components.T @ components, np.diag(np.linalg.eigvalsh(centred)[::-1][:3]), atol=1e-8)


@pytest.mark.parametrize(
    "more", [{}, {"C": "inf", "kernel": "rbf(gamma=5)"}, {"classes": 3}, {"task": "regression"}, {"task": "novelty"}]
)
def test_the_python_shown_makes_the_same_picture(more, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    told = scene(**more)
    answer = picture(told)
    names: dict = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(answer["python"], names)
    import matplotlib.pyplot as plt

    plt.close("all")
    grid = unpacked(answer["machine"]["grid"])
    if told.get("task") == "regression":
        np.testing.assert_allclose(names["values"], grid[::4, 0], atol=1e-6)
    elif more.get("classes") == 3:
        clear = grid.max(axis=2) > 1e-6
        assert (names["values"] == grid.argmax(axis=2))[clear].all()
    else:
        np.testing.assert_allclose(names["values"], grid[:, :, 0], atol=1e-6 * max(1.0, np.abs(grid).max()))


@pytest.mark.parametrize("entry", KERNELS.values(), ids=lambda entry: entry.text)
def test_any_kernels_name_gives_a_picture_or_says_why_not(entry):
    try:
        told = picture(scene(n=8, kernel=entry.text))
    except Refusal as error:
        told = error.told()
    assert told.get("field", "kernel") == "kernel"
    json.dumps(told, allow_nan=False)


@pytest.mark.parametrize(
    ("text", "position"),
    [("rbf(gama=1)", 4), ("rbf(gamma=1", 3), ("", 0), ("linear + nothing", 9), ("rbf(gamma=-1)", 4)],
)
def test_errors_stand_at_their_character(text, position):
    with pytest.raises(Refusal) as caught:
        picture(scene(kernel=text))
    assert (caught.value.field, caught.value.position) == ("kernel", position)


@pytest.mark.parametrize(
    ("points", "says"), [([], "Click the plane"), ([[0.0, 0.0, 1]], "one class"), ([[0.0, 0.0, 0]] * 3, "one class")]
)
def test_what_is_missing(points, says):
    assert says in picture({"points": points})["missing"]


def test_odd_scenes_are_drawn_too():
    for points in (
        [[0.0, 0.0, 0], [0.0, 0.0, 1]],
        [[1.0, 1.0, 0]] * 5 + [[-1.0, 1.0, 1]],
        [[3.0, -3.0, 2], [0.0, 0.0, 0]],
    ):
        for kernel in ("rbf(gamma=1)", "linear", "constant(1)", "sigmoid(gamma=2)"):
            for task in ("classification", "regression", "novelty"):
                answer = picture({"points": points, "kernel": kernel, "task": task})
                json.dumps(answer, allow_nan=False)
                assert answer["sentences"]


def test_a_bad_matrix_is_called_one():
    assert picture(scene(kernel="rbf(gamma=5000)"))["views"]["sentence"].startswith("Mostly diagonal")
    assert picture(scene(kernel="rbf(gamma=0.00001)"))["views"]["sentence"].startswith("Nearly constant")
    assert len(unpacked(picture(scene())["machine"]["grid"])) == GRID
