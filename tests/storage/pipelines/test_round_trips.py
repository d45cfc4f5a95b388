"""Pipelines and searches: what is saved predicts, transforms, reports and can be cloned as before."""

import json
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import FastICA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import mercer
from mercer import SVC, KernelSearchCV, kernels
from mercer.errors import ModelFileError, UnfittedError
from tests.storage.pipelines.samples import CASES, TEXTS, X, Y, fitted


def there_and_back(model, tmp_path, **options):
    mercer.save(model, tmp_path / "model")
    return mercer.load(tmp_path / "model", **options)


@pytest.mark.parametrize("name", CASES)
def test_every_transformer(name, tmp_path):
    model, objects = fitted(name)
    again = there_and_back(model, tmp_path)
    assert type(again) is type(model)
    for method in ("predict", "decision_function"):
        if hasattr(model, method):
            wanted, got = getattr(model, method)(objects), getattr(again, method)(objects)
            assert got.dtype == wanted.dtype
            # BLAS rounds a product by where its arrays lie in memory: the last bit may differ.
            np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14)
    if hasattr(model, "steps") and len(model.steps) > 1:
        wanted, got = model[:-1].transform(objects), again[:-1].transform(objects)
        assert type(got) is type(wanted)
        dense = [part.toarray() if hasattr(part, "toarray") else np.asarray(part) for part in (wanted, got)]
        # Before the machine to the last bit, but for components that were rows of a wider matrix.
        np.testing.assert_allclose(*dense, rtol=1e-13 if name == "incremental pca" else 0.0, atol=0.0)
        assert dense[0].dtype == dense[1].dtype
    clone(again)


@pytest.mark.parametrize("name", CASES)
def test_the_same_model_gives_the_same_file(name, tmp_path):
    model, _ = fitted(name)
    mercer.save(model, tmp_path / "one")
    mercer.save(mercer.load(tmp_path / "one"), tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_what_a_search_found(tmp_path):
    for name in ("search", "search of several scores", "search of a regression"):
        model, objects = fitted(name)
        again = there_and_back(model, tmp_path)
        for attribute in ("best_params_", "best_index_", "best_score_", "n_splits_", "complete_", "multimetric_"):
            assert getattr(again, attribute) == getattr(model, attribute)
        assert again.cv_results_.keys() == model.cv_results_.keys()
        for column, values in model.cv_results_.items():
            found = again.cv_results_[column]
            if column == "params":
                assert found == values
            else:
                assert (found.dtype, repr(found)) == (values.dtype, repr(values))
        labels = X[:, 0] if "regression" in name else Y
        assert again.score(objects, labels) == pytest.approx(model.score(objects, labels), rel=1e-12)
        assert again.get_params().keys() == model.get_params().keys()
    assert repr(there_and_back(fitted("search")[0], tmp_path).cv) == repr(fitted("search")[0].cv)


def test_a_loaded_search_can_be_fitted_anew(tmp_path):
    model, objects = fitted("search")
    again = clone(there_and_back(model, tmp_path)).fit(objects, Y)
    assert again.best_params_ == model.best_params_


def test_a_search_without_a_final_fit(tmp_path):
    search = KernelSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=3, refit=False).fit(X, Y)
    again = there_and_back(search, tmp_path)
    assert again.best_params_ == search.best_params_
    assert not hasattr(again, "best_estimator_")


def test_columns_are_found_by_name_in_any_order(tmp_path):
    pytest.importorskip("pandas")
    model, table = fitted("columns by name")
    again = there_and_back(model, tmp_path)
    moved = table[list(reversed(table.columns))]
    np.testing.assert_allclose(again.decision_function(moved), model.decision_function(table), rtol=1e-13, atol=1e-14)
    assert list(again[:-1].get_feature_names_out()) == list(model[:-1].get_feature_names_out())


def test_new_categories_words_and_gaps(tmp_path):
    pytest.importorskip("pandas")
    model, table = fitted("columns by name")
    new = table[:3].assign(colour=["mauve", None, "red"], text=["unknown words", "", "rain rain"], b=[np.nan, 1.0, 2.0])
    got, wanted = there_and_back(model, tmp_path).decision_function(new), model.decision_function(new)
    np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14)


def test_the_version_of_sklearn_is_recorded(tmp_path):
    import sklearn

    mercer.save(fitted("standard")[0], tmp_path / "pipeline")
    mercer.save(SVC().fit(X, Y), tmp_path / "alone")
    for name, found in (("pipeline", sklearn.__version__), ("alone", None)):
        with zipfile.ZipFile(tmp_path / name) as archive:
            assert json.loads(archive.read("header.json")).get("sklearn") == found


def test_a_kernel_of_ones_own_within_a_pipeline(tmp_path):
    kernel = kernels.FromFunction(lambda x, z: float(x @ z) ** 2, symmetric=True, psd=True)
    model = make_pipeline(StandardScaler(), SVC(kernel=kernel)).fit(X, Y)
    mercer.save(model, tmp_path / "model")
    with pytest.raises(ModelFileError, match="kernel="):
        mercer.load(tmp_path / "model")
    again = mercer.load(tmp_path / "model", kernel=kernel)
    np.testing.assert_allclose(again.decision_function(X), model.decision_function(X), rtol=1e-13, atol=1e-14)


REFUSED = {
    "a FunctionTransformer holds a Python function": make_pipeline(FunctionTransformer(np.log1p), SVC()),
    "'tokenizer' of TfidfVectorizer is a Python function": make_pipeline(
        TfidfVectorizer(tokenizer=str.split, token_pattern=None), SVC()
    ),
    "Cannot save a FastICA.*StandardScaler": make_pipeline(FastICA(2, random_state=0), SVC()),
    "token_pattern": make_pipeline(TfidfVectorizer(token_pattern=r"(?:\w+)+"), SVC()),
    "is Python code.*best_estimator_": KernelSearchCV(SVC(), {"C": [1.0]}, cv=2, scoring=lambda model, A, b: 1.0),
    "names|function": make_pipeline(
        ColumnTransformer([("a", StandardScaler(), [0])], verbose_feature_names_out=str.format), SVC()
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_code_and_strangers_are_refused_in_words(message, tmp_path):
    model = REFUSED[message]
    objects = TEXTS if "oken" in message else np.abs(X)
    model.fit(objects, Y)
    with pytest.raises(ModelFileError, match=f"(?i){message}"):
        mercer.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_unfitted_pipelines_are_refused(tmp_path):
    with pytest.raises(UnfittedError, match="not fitted"):
        mercer.save(make_pipeline(StandardScaler(), SVC()), tmp_path / "model")
    with pytest.raises(UnfittedError, match="not fitted"):
        mercer.save(KernelSearchCV(SVC(), {"C": [1.0]}), tmp_path / "model")


def test_long_words_take_no_more_than_themselves(tmp_path):
    texts = ["short words here", "x" * 200_000 + " other words"] * 30
    model = make_pipeline(TfidfVectorizer(), SVC()).fit(texts, [0, 1] * 30)
    again = there_and_back(model, tmp_path)
    assert (again.predict(texts) == model.predict(texts)).all()
    assert (tmp_path / "model").stat().st_size < 1_000_000


def test_a_folder_of_a_pipeline_is_left_out(tmp_path):
    model = make_pipeline(StandardScaler(), SVC(), memory=str(tmp_path / "cache")).fit(X, Y)
    assert there_and_back(model, tmp_path).memory is None
