"""Kernels that learn how much columns matter: made for each fold, and no better than chance on noise."""

import numpy as np
import pytest

from mercer import kernels
from mercer.inputs.vectors import Vectors
from mercer.jobs.candidates import short_text
from mercer.jobs.experiments import experiment_on
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan, prepare
from mercer.jobs.relevance import Relevance
from mercer.jobs.search import search
from mercer.readers.frames import read_frame
from mercer.readers.options import Options
from mercer.report.naming import kernel_name
from mercer.selection.relevance import column_widths


def table(n=120, seed=0):
    random = np.random.default_rng(seed)
    columns = {f"x{number}": random.normal(size=n) for number in range(6)}
    columns["shade"] = random.choice(["red", "green", "blue"], size=n)
    columns["y"] = np.sin(3 * columns["x0"]) + 2.0 * (columns["shade"] == "red")
    return columns


def prepared(columns, **plan):
    return prepare(read_frame(columns, Options(target="y")), Plan(**plan))


def test_columns_that_do_not_matter_are_left_out():
    problem = prepared(table())
    relevance = Relevance(problem.objects, problem.preparation, problem.y, problem.task)
    text = str(relevance.kernel(np.arange(len(problem.y))))
    assert "'shade'" in text
    found = relevance.kernel(np.arange(len(problem.y)))
    own = next(one for one in found.children if isinstance(one, type(kernels.on(["x0", "x1"], kernels.RBF(1.0)))))
    gamma = np.array(next(iter(own.children)).gamma)
    assert gamma.argmax() == 0
    assert gamma[0] > 10 * gamma[1:].max()


def test_a_kernel_is_made_of_the_objects_that_its_machine_is_trained_on():
    problem = prepared(table())
    seen = []
    experiment = experiment_on(problem, np.arange(len(problem.y)))
    kernel = kernels.on(["x0", "x1"], kernels.RBF(0.5))

    def making(rows):
        seen.append(rows)
        return kernel

    one = type(experiment)(**{**vars(experiment), "made": {kernel: making}})
    found, plain = one.try_kernel(kernel), experiment.try_kernel(kernel)
    assert sorted(rows.tolist() for rows in seen) == sorted(train.tolist() for train, _ in experiment.splits)
    for ours, theirs in zip(found.trials, plain.trials, strict=True):
        assert ours.penalty == theirs.penalty
        np.testing.assert_allclose(ours.predicted, theirs.predicted, rtol=1e-9)
        np.testing.assert_allclose(ours.fold_scores, theirs.fold_scores, rtol=1e-9)


def test_what_is_learnt_for_one_recipe_serves_all(monkeypatch):
    learnt = []

    def counted(*given):
        learnt.append(given)
        return column_widths(*given)

    monkeypatch.setattr("mercer.jobs.relevance.column_widths", counted)
    problem = prepared(table(), task="regression")
    found = search(problem, scout=True)
    assert sum("one of each" in short_text(one.kernel, problem.preparation) for one in found.by_kernel()) > 1
    assert len(learnt) == 1 + len(found.splits)


def test_many_columns_are_learnt_from_more_objects():
    random = np.random.default_rng(1)
    X = random.normal(size=(800, 40))
    columns = {f"x{number}": values for number, values in enumerate(X.T)}
    columns["y"] = np.sin(2 * X[:, 3]) * X[:, 11] + 0.3 * random.normal(size=800)
    problem = prepared(columns, task="regression")
    relevance = Relevance(problem.objects, problem.preparation, problem.y, problem.task)
    gamma = np.array(next(iter(relevance.kernel(np.arange(800)).children)).gamma)
    assert set(np.argsort(-gamma)[:2]) == {3, 11}


def test_learning_which_columns_matter_pays():
    problem = prepared(table(), task="regression")
    assert search(problem, scout=True).best.score > search(problem).best.score + 0.1


def test_noise_is_not_learnt():
    columns = table()
    columns["y"] = np.random.default_rng(7).choice(["a", "b"], size=len(columns["x0"]))
    outcome = fit(read_frame(columns, Options(target="y")), Plan())
    assert outcome.estimate.low < 0.55


def test_a_model_with_widths_of_its_own_is_stored(tmp_path):
    import mercer

    columns = table()
    outcome = mercer.fit(columns, target="y", task="regression")
    mercer.save(outcome.model, tmp_path / "m.mercer")
    again = mercer.load(tmp_path / "m.mercer")
    np.testing.assert_allclose(again.predict(columns), outcome.predict(columns), rtol=1e-9)


@pytest.mark.parametrize("given", ["rbf(gamma=0.5)", "linear()"])
def test_a_kernel_that_was_asked_for_is_the_only_one(given):
    columns = table()
    outcome = fit(read_frame(columns, Options(target="y")), Plan(kernel=f"on(['x0', 'x1'], {given})"))
    assert len(outcome.search.by_kernel()) == 1


def test_long_kernels_have_a_short_text():
    problem = prepared(table())
    names = problem.preparation.numbers
    kernel = kernels.on(names, kernels.RBF(gamma=tuple(0.1 for _ in names)))
    for name in ("a", "b", "c"):
        kernel = kernel * kernels.on(name, kernels.RBF(gamma=0.5, over=kernels.Categorical()))
    assert short_text(kernel, problem.preparation) == (
        "on(6 numbers, rbf(gamma=one of each))*on(3 categories, rbf(gamma=one of each, over=categorical()))"
    )
    assert kernel_name(kernel, problem.preparation) == (
        "Gaussian (a width for each) on 6 numbers × same or different (a width for each) on 3 categories"
    )


def test_the_kernel_on_a_table_is_the_one_that_was_learnt_on_its_numbers():
    """exp(-sum of gamma |x - z|^2) over columns of numbers and indicators, and of two other categories once gamma."""
    columns = {name: values for name, values in table().items() if name in ("x0", "x1", "shade", "y")}
    problem = prepared(columns, task="regression")
    relevance = Relevance(problem.objects, problem.preparation, problem.y, problem.task)
    found = relevance.kernel(np.arange(len(problem.y)))
    values = found.fit(problem.objects)(problem.objects)
    numbers = problem.objects.objects(tuple(problem.preparation.numbers), Vectors).values
    words = columns["shade"]
    X = np.column_stack([numbers, *(words == one for one in np.unique(words))])
    groups = np.array([0, 1, 2, 2, 2])
    gamma = column_widths(X / np.sqrt([1, 1, 2, 2, 2]), groups, problem.y[:, None].astype(float))
    assert gamma[2] > 0.01
    apart = np.square(numbers[:, None] - numbers) @ gamma[:2] + gamma[2] * (words[:, None] != words)
    np.testing.assert_allclose(values, np.exp(-apart), atol=0.01)
