"""Kernels on documents: the worked examples, scikit-learn beside them, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import mercer
from mercer import SVC, kernels
from mercer.errors import InputError, KernelWarning, ParameterError

DOCUMENTS = ["cat sat cat", "cat mat", "dog sat", "dog dog mat"]
WORKED = np.array([[5, 2, 1, 0], [2, 2, 0, 1], [1, 0, 2, 2], [0, 1, 2, 5]])
texts = st.lists(
    st.lists(st.sampled_from(["cat", "dog", "Mat", "sat", "on"]), min_size=1, max_size=6).map(" ".join),
    min_size=3,
    max_size=6,
)


def test_worked_examples():
    np.testing.assert_array_equal(kernels.VectorSpace().fit(DOCUMENTS)(DOCUMENTS), WORKED)
    weighted = kernels.VectorSpace("tf-idf").fit(DOCUMENTS)(DOCUMENTS)
    np.testing.assert_allclose(weighted, WORKED * math.log(2) ** 2, atol=1e-9)
    assert weighted[0, 0] == pytest.approx(2.4022650696, abs=1e-9)


def test_latent_semantics_of_the_worked_example():
    fitted = kernels.LatentSemantic(kernels.VectorSpace(), k=2).fit(DOCUMENTS)
    np.testing.assert_allclose(fitted.state.values["eigenvalues"], [6.8541019662, 5.3027756377], atol=1e-9)
    everything = [6.8541019662, 5.3027756377, 1.6972243623, 0.1458980338]
    np.testing.assert_allclose(np.linalg.eigvalsh(WORKED)[::-1], everything, atol=1e-9)
    K = fitted(DOCUMENTS)
    np.testing.assert_allclose(K[0], [4.9085753046, 2.2679864638, 0.7972611204, 0.0510994706], atol=1e-9)
    np.testing.assert_allclose(K[1, 1:3], [1.1698634974, 0.7245636936], atol=1e-9)
    wanted = [2.9066615129, 1.3632387427, 0.5311884483, 0.1585860714]
    np.testing.assert_allclose(fitted(["cat sat"], DOCUMENTS)[0], wanted, atol=1e-9)
    # The diagonal of a new document is that of its projection, not of the base kernel.
    new = fitted(["cat sat"])
    features = fitted.features(fitted.coerce(["cat sat"]))
    assert fitted.diagonal(features)[0] == pytest.approx(new[0, 0]) != 2.0


@settings(max_examples=20)
@given(texts, texts)
def test_counts_are_those_of_scikit_learn(train, new):
    reader = CountVectorizer(ngram_range=(1, 2)).fit(train + new)
    A, B = (reader.transform(batch).toarray() for batch in (train, new))
    fitted = kernels.VectorSpace(ngrams=(1, 2)).fit(train)
    np.testing.assert_array_equal(fitted(new, train), B @ A.T)
    np.testing.assert_array_equal(fitted(new), B @ B.T)  # terms that training never saw count too
    frequencies = (A > 0).sum(axis=0)
    weights = np.where(frequencies > 0, np.log(len(train) / np.maximum(frequencies, 1)), 0.0)
    weighted = kernels.VectorSpace("tf-idf", ngrams=(1, 2)).fit(train)
    np.testing.assert_allclose(weighted(new, train), (B * weights**2) @ A.T, atol=1e-12)


@settings(max_examples=20)
@given(texts, texts)
def test_smoothed_weights_are_those_of_scikit_learn(train, new):
    theirs = TfidfVectorizer(ngram_range=(1, 2)).fit(train)
    A, B = (theirs.transform(batch).toarray() for batch in (train, new))
    seen = [text for text, row in zip(new, B, strict=True) if row.any()]
    fitted = kernels.normalise(kernels.VectorSpace("smooth-tf-idf", ngrams=(1, 2))).fit(train)
    np.testing.assert_allclose(fitted(train), A @ A.T, atol=1e-12)
    if seen:
        np.testing.assert_allclose(fitted(seen, train), B[B.any(axis=1)] @ A.T, atol=1e-12)


def test_weights_are_frozen_by_fit():
    fitted = kernels.VectorSpace("tf-idf").fit(DOCUMENTS)
    alone = fitted(["cat dog unseen"], DOCUMENTS)
    np.testing.assert_array_equal(fitted(["cat dog unseen", "dog dog dog"], DOCUMENTS)[:1], alone)
    assert fitted(["unseen words"], ["unseen words"])[0, 0] == 0.0


def test_pruning_is_that_of_scikit_learn():
    documents = ["cat sat cat cat on mat", "cat mat on", "dog sat on", "dog dog mat on on"]
    for options, theirs in (
        ({"min_df": 2, "max_df": 0.9}, {"min_df": 2, "max_df": 0.9}),
        ({"max_df": 2}, {"max_df": 2}),
        ({"max_terms": 2}, {"max_features": 2}),
    ):
        counts = CountVectorizer(**theirs).fit_transform(documents).toarray()
        np.testing.assert_array_equal(kernels.VectorSpace(**options).fit(documents)(documents), counts @ counts.T)


def test_proximity():
    terms, P = ("cat", "dog", "mat"), np.array([[1.0, 0.5], [0.8, 0.1], [0.0, 1.0]])
    counts = np.array([[2, 0, 0], [1, 0, 1], [0, 1, 0], [0, 2, 1]])
    kernel = kernels.VectorSpace(terms=terms, proximity=P)
    np.testing.assert_allclose(kernel.fit(DOCUMENTS)(DOCUMENTS), counts @ P @ P.T @ counts.T, atol=1e-12)
    weights = np.log([2.0, 2.0, 2.0])
    weighted = kernels.VectorSpace("tf-idf", terms=terms, proximity=P).fit(DOCUMENTS)(DOCUMENTS)
    np.testing.assert_allclose(weighted, (counts * weights) @ P @ P.T @ (counts * weights).T, atol=1e-12)
    chosen = kernels.VectorSpace(terms=terms).fit(["dog"])(DOCUMENTS)
    np.testing.assert_array_equal(chosen, counts @ counts.T)


def test_a_tokeniser_of_ones_own_and_tokens():
    split = kernels.VectorSpace(tokenizer=str.split)
    assert split.fit(["a b a"])(["a b a"], ["A c"])[0, 0] == 2.0
    words = [text.split() for text in DOCUMENTS]
    np.testing.assert_array_equal(kernels.VectorSpace().fit(words)(words, words), WORKED)


def test_stop_words():
    assert kernels.VectorSpace(stop_words="english").fit(["the cat"])(["the cat"])[0, 0] == 1.0
    assert kernels.VectorSpace(stop_words=["cat"]).fit(["the cat"])(["the cat"])[0, 0] == 1.0


def test_mixed_with_other_columns_and_stored(tmp_path):
    rows = {"text": DOCUMENTS * 3, "length": [float(len(text)) for text in DOCUMENTS * 3]}
    topics = kernels.LatentSemantic(kernels.normalise(kernels.VectorSpace("tf-idf")), k=2)
    kernel = kernels.on("text", topics) + kernels.on("length", kernels.RBF(gamma=0.1))
    assert kernels.parse(str(kernel)) == kernel
    model = SVC(kernel=kernel).fit(rows, [0, 0, 1, 1] * 3)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    np.testing.assert_allclose(loaded.decision_function(rows), model.decision_function(rows), atol=1e-12)


def test_a_tie_keeps_all_that_are_tied():
    rows = np.eye(4) * np.sqrt([3.0, 2.0, 2.0, 1.0])
    with pytest.warns(KernelWarning, match="Eigenvalue 2 .* up to number 3"):
        fitted = kernels.LatentSemantic(kernels.Linear(), k=2).fit(rows)
    np.testing.assert_allclose(fitted(rows), np.diag([3.0, 2.0, 2.0, 0.0]), atol=1e-12)


def test_null_directions_are_left_out():
    rows = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
    with pytest.warns(KernelWarning, match="3 objects have 1 directions that are not null"):
        fitted = kernels.LatentSemantic(kernels.Linear(), k=3).fit(rows)
    np.testing.assert_allclose(fitted(rows), rows @ rows.T, atol=1e-12)
    with pytest.warns(KernelWarning, match="have 0 directions"):
        nothing = kernels.LatentSemantic(kernels.Linear(), k=1).fit(np.zeros((3, 2)))
    np.testing.assert_array_equal(nothing(np.ones((2, 2))), np.zeros((2, 2)))


def test_many_objects_by_lanczos(monkeypatch):
    rows = np.random.default_rng(0).normal(size=(60, 8))
    whole = kernels.LatentSemantic(kernels.RBF(gamma=0.1), k=3).fit(rows)(rows)
    monkeypatch.setattr("mercer.kernels.documents.latent_semantic._DENSE", 10)
    np.testing.assert_allclose(kernels.LatentSemantic(kernels.RBF(gamma=0.1), k=3).fit(rows)(rows), whole, atol=1e-9)


def test_empty_documents():
    with pytest.warns(KernelWarning, match="2 of 3 documents have no term"):
        fitted = kernels.normalise(kernels.VectorSpace("tf-idf")).fit(["", "the cat", "!"])
    assert fitted([""], ["the cat"])[0, 0] == 0.0
    with pytest.warns(KernelWarning, match="1 of 2 documents have no term of the list"):
        kernels.VectorSpace(terms=("cat",)).fit(["the cat", "a dog"])
    with pytest.warns(KernelWarning, match="2 of 2 documents have no term"):  # nothing to do with stop words
        kernels.VectorSpace(stop_words="english").fit(["", "!"])


@pytest.mark.parametrize(
    ("kernel", "documents", "message"),
    [
        (kernels.VectorSpace("tf-idf"), ["", "!"], "None of the 2 documents has a term"),
        (kernels.VectorSpace(min_df=3), ["cat", "dog"], "No term is left of the 2 in 2 documents: min_df=3"),
        (kernels.VectorSpace("tf-idf", terms=("cow",)), ["cat", "dog"], "No term is left"),
        (kernels.VectorSpace(stop_words=["cat", "dog"]), ["cat", "dog"], "No term is left .* Take words off that list"),
        (kernels.VectorSpace("tf-idf", stop_words="english"), ["the", ""], "stop_words='english' drop them all"),
        (kernels.VectorSpace(), "cat", "got one str"),
        (kernels.VectorSpace(), ["cat", None], "item 1 is None"),
        (kernels.VectorSpace(tokenizer=lambda text: 1 / 0), ["cat"], "Document 0 could not be split into terms"),
    ],
)
def test_refused(kernel, documents, message):
    with pytest.raises(InputError, match=message):
        kernel.fit(documents)


@pytest.mark.parametrize(
    "options",
    [
        {"weighting": "bm25"},
        {"ngrams": (2, 1)},
        {"ngrams": 2},
        {"stop_words": "german"},
        {"min_df": 0},
        {"max_df": 1.5},
        {"max_terms": 0},
        {"tokenizer": "split"},
        {"terms": ("a", "a")},
        {"terms": "cat"},
        {"proximity": [[1.0]]},
        {"terms": ("a", "b"), "proximity": [[1.0]]},
        {"terms": ("a",), "proximity": [[math.nan]]},
    ],
)
def test_parameters(options):
    with pytest.raises(ParameterError, match="parameter of VectorSpace"):
        kernels.VectorSpace(**options)


def test_parameters_of_latent_semantics():
    for arguments in (("rbf",), (kernels.Linear(), 0)):
        with pytest.raises(ParameterError, match="parameter of LatentSemantic"):
            kernels.LatentSemantic(*arguments)


def test_one_direction_is_a_direction():
    rows = np.outer([1.0, 2.0, -1.0], [3.0, 0.0])
    np.testing.assert_allclose(kernels.LatentSemantic(kernels.Linear(), k=1).fit(rows)(rows), rows @ rows.T, atol=1e-10)


@pytest.mark.parametrize("rows", [[[1.0, 2.0]], [[2.0, 0.0], [0.0, 0.0]]])
def test_the_only_direction_there_is_gives_the_kernel_back(rows):
    """One object, or one beside objects that are nothing: no second eigenvalue is above 0."""
    rows = np.array(rows)
    fitted = kernels.LatentSemantic(kernels.Linear(), k=1).fit(rows)
    np.testing.assert_allclose(fitted(rows), rows @ rows.T, atol=1e-12)
