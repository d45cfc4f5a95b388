"""Scores against scikit-learn's, with weights and resamples; and searches that choose by them."""

import numpy as np
import pytest
from sklearn import metrics as theirs

import mercer
from mercer.errors import InputError, ParameterError
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.metrics import metric_for, names_of
from mercer.jobs.scoring import Estimate, difference, of_answers
from mercer.jobs.verdicts import verdict

CLASSES = ("accuracy", "balanced_accuracy", "auc", "f1", "log_loss")


def classes_said(many, n=60, seed=0):
    random = np.random.default_rng(seed)
    labels = np.array(["no", "perhaps", "yes"])[:many] if many == 3 else np.array(["no", "yes"])
    codes = np.concatenate([np.arange(many), random.integers(0, many, n - many)])
    values = random.normal(size=(n, many)) + 1.5 * np.eye(many)[codes]
    values = np.round(values, 1)  # with ties
    chances = np.exp(values) / np.exp(values).sum(axis=1, keepdims=True)
    decisions = values if many > 2 else values[:, 1:] - values[:, :1]
    weights = random.uniform(0.2, 3.0, n)
    return Answers(labels[codes], labels[chances.argmax(axis=1)], weights, decisions, chances, labels)


def numbers_said(n=50, seed=0):
    random = np.random.default_rng(seed)
    y = random.normal(size=n)
    return Answers(y, y + 0.5 * random.standard_t(3, size=n), random.uniform(0.2, 3.0, n))


def oracle(name, said, weights):
    y, predicted = said.y, said.predicted
    two = len(said.labels) == 2 if said.decisions is not None else False
    if name == "auc" and not two:
        onehot = y[:, None] == said.labels[None, :]
        return np.mean(
            [
                theirs.roc_auc_score(own, column, sample_weight=weights)
                for own, column in zip(onehot.T, said.decisions.T, strict=True)
            ]
        )
    return {
        "accuracy": lambda: theirs.accuracy_score(y, predicted, sample_weight=weights),
        "balanced_accuracy": lambda: theirs.balanced_accuracy_score(y, predicted, sample_weight=weights),
        "auc": lambda: theirs.roc_auc_score(y == "yes", said.decisions[:, 0], sample_weight=weights),
        "f1=yes": lambda: theirs.f1_score(y, predicted, pos_label="yes", average="binary", sample_weight=weights),
        "f1": lambda: theirs.f1_score(y, predicted, average="macro", sample_weight=weights),
        "log_loss": lambda: theirs.log_loss(y, said.chances, sample_weight=weights),
        "r2": lambda: theirs.r2_score(y, predicted, sample_weight=weights),
        "mae": lambda: theirs.mean_absolute_error(y, predicted, sample_weight=weights),
        "rmse": lambda: theirs.root_mean_squared_error(y, predicted, sample_weight=weights),
        "quantile=0.9": lambda: theirs.mean_pinball_loss(y, predicted, alpha=0.9, sample_weight=weights),
    }[name]()


@pytest.mark.parametrize(
    ("name", "many"),
    [(name, many) for name in CLASSES for many in (2, 3) if (name, many) != ("f1", 2)] + [("f1=yes", 2)],
)
def test_scores_of_classes_are_those_of_scikit_learn(name, many):
    said = classes_said(many)
    metric = metric_for(name, "classification", said.y)
    draws = np.random.default_rng(1).multinomial(60, np.full(60, 1 / 60), size=5).astype(float)
    draws[:, : len(said.labels)] += 1  # every class occurs
    found = metric.sign * metric.gains(said, draws)
    for row, value in zip(draws, found, strict=True):
        assert value == pytest.approx(oracle(name, said, row * said.weights), rel=1e-9)
    assert metric.score(said) == pytest.approx(oracle(name, said, said.weights), rel=1e-9)


@pytest.mark.parametrize("name", ["r2", "mae", "rmse", "quantile=0.9"])
def test_scores_of_numbers_are_those_of_scikit_learn(name):
    said = numbers_said()
    metric = metric_for(name, "regression", said.y)
    draws = np.random.default_rng(1).multinomial(50, np.full(50, 1 / 50), size=5).astype(float)
    for row, value in zip(draws, metric.sign * metric.gains(said, draws), strict=True):
        assert value == pytest.approx(oracle(name, said, row * said.weights), rel=1e-9)


def test_the_best_constant_answer_is_the_baseline():
    said = classes_said(2)
    yes = np.full(len(said.y), "yes")
    share = said.weights[said.y == "yes"].sum() / said.weights.sum()
    assert metric_for("accuracy", "classification", said.y).baseline(said) == pytest.approx(max(share, 1 - share))
    assert metric_for("auc", "classification", said.y).baseline(said) == 0.5
    assert metric_for("f1=yes", "classification", said.y).baseline(said) == pytest.approx(
        theirs.f1_score(said.y, yes, pos_label="yes", average="binary", sample_weight=said.weights)
    )
    entropy = -share * np.log(share) - (1 - share) * np.log(1 - share)
    assert metric_for("log_loss", "classification", said.y).baseline(said) == pytest.approx(entropy)
    numbers = numbers_said()
    for name in ("mae", "quantile=0.9"):
        metric = metric_for(name, "regression", numbers.y)
        tries = [
            metric.score(Answers(numbers.y, np.full(50, value), numbers.weights)) for value in np.linspace(-3, 3, 601)
        ]
        assert metric.baseline(numbers) == pytest.approx(min(tries), rel=1e-3)


def test_names_and_what_is_refused():
    y = np.array(["a", "b", "b"])
    assert metric_for("AUC", "classification", y).name == "AUC"
    assert metric_for("log loss", "classification", y).text == "log_loss"
    assert metric_for("f1", "classification", y).text == "f1=a"  # the rarer of two
    assert metric_for("auto", "classification", y, balanced=True).text == "balanced_accuracy"
    assert names_of("regression") == ["r2", "mae", "rmse", "quantile"]
    for asked, message in (
        ("acuracy", "Did you mean 'accuracy'"),
        ("rmse", "is for numbers"),
        ("f1=c", "no class 'c'"),
        ("auc=a", "takes nothing after"),
        (3, "must be a name or a function"),
    ):
        with pytest.raises(ParameterError, match=message):
            metric_for(asked, "classification", y)
    for asked in ("quantile=2", "quantile=x"):
        with pytest.raises(ParameterError, match="between 0 and 1"):
            metric_for(asked, "regression", np.arange(3.0))


def test_levels_of_errors_and_of_gains():
    assert Estimate(1.0, 0.5, 2.5, 2.0, "log loss", 0.0).level == "no better than guessing"
    assert Estimate(1.0, 0.5, 1.5, 2.0, "log loss", 0.0).skill == 0.5
    assert Estimate(1.0, 0.5, 1.5, 2.0, "log loss", 0.0).level == "good"
    assert Estimate(3.0, 2.5, 3.5, 2.0, "own", None).level == "better than guessing"


def test_sentences():
    said, numbers = classes_said(2), numbers_said()
    words = {}
    for name in CLASSES:
        metric = metric_for(name, "classification", said.y)
        words[name] = verdict(of_answers(said, metric, 0), metric, said, "answer")
    assert "ranks an object of class 'yes' above one of another" in words["auc"]
    assert "(log loss)" in words["log_loss"]
    for name, part in (("mae", "off by"), ("rmse", "root mean square"), ("quantile=0.9", "are not above")):
        metric = metric_for(name, "regression", numbers.y)
        assert part in verdict(of_answers(numbers, metric, 0), metric, numbers, "size")
    worse = Answers(numbers.y, np.full(50, 2.0), numbers.weights)
    low, high = difference(numbers, worse, metric_for("mae", "regression", numbers.y), 0)
    assert 0 < low < high  # the other falls behind, though its error is larger


@pytest.fixture(scope="module")
def frame():
    random = np.random.default_rng(0)
    x = random.normal(size=(120, 2))
    y = np.where(x[:, 0] + 0.7 * random.normal(size=120) > 0.8, "ill", "well")
    return {"a": x[:, 0], "b": x[:, 1], "y": y.tolist()}


SMALL = {"kernel": "rbf(gamma=0.3)", "folds": 3}


def test_a_search_chooses_by_the_metric(frame):
    for name in ("auc", "f1=ill", "log_loss"):
        found = mercer.fit(frame, target="y", metric=name, **SMALL)
        judge, metric = found.search.judge, found.problem.metric
        scores = [metric.score(judge.answers(trial.predicted, trial.decisions)) for trial in found.search.trials]
        fold = [metric.sign * trial.score for trial in found.search.trials]
        assert fold == sorted(fold, reverse=metric.sign > 0)
        assert scores[0] == pytest.approx(found.estimate.value, abs=0.1)
        assert found.model.about["metric"] == name


def test_functions_of_ones_own(frame):
    def misses(y, predicted):
        return -float(((y == "ill") & (predicted != "ill")).sum())

    found = mercer.fit(frame, target="y", metric=misses, **SMALL)
    assert found.estimate.name == "misses"
    assert found.estimate.baseline == -float(np.sum(np.array(frame["y"]) == "ill"))
    seen = []

    def weighed(y, predicted, sample_weight=None):
        seen.append(sample_weight is not None)
        return float(np.average(y == predicted, weights=sample_weight))

    weights = np.random.default_rng(1).uniform(0.5, 2.0, 120)
    mercer.fit(frame, target="y", metric=weighed, weight=weights, **SMALL)
    assert all(seen)
    with pytest.raises(InputError, match="must give a finite number"):
        mercer.fit(frame, target="y", metric=lambda y, predicted: np.nan, **SMALL)


def test_quantiles_are_learnt_where_they_are_asked_for():
    random = np.random.default_rng(0)
    x = random.uniform(0, 3, 300)
    frame = {"x": x, "y": x + random.exponential(1.0, 300)}
    found = mercer.fit(frame, target="y", metric="quantile=0.9", **SMALL)
    share = float(np.mean(frame["y"] <= found.predict(frame)))
    assert 0.85 < share < 0.95
    assert found.model.about["errors"] is None
    middle = mercer.fit(frame, target="y", metric="mae", **SMALL)
    assert type(middle.model.estimator).__name__ == "KernelQuantileRegressor"
    assert "50" in middle.model.about["errors"]
