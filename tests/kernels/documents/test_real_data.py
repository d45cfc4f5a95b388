"""Four newsgroups: at least what scikit-learn's text features and linear machine reach, and what topics add."""

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mercer import SVC, kernels
from mercer.gram.make import gram_of

pytestmark = [pytest.mark.realdata, pytest.mark.slow]
GROUPS = ["alt.atheism", "comp.graphics", "sci.med", "soc.religion.christian"]
WORDS = kernels.normalise(kernels.VectorSpace("tf-idf"))


@pytest.fixture(scope="module")
def news(load):
    data = load("text/20newsgroups")
    return {
        part: ([text for text, label in zip(*data[part], strict=True) if label in GROUPS],
               np.array([label for label in data[part][1] if label in GROUPS]))
        for part in ("train", "test")
    }  # fmt: skip


def test_words(news):
    peer = make_pipeline(TfidfVectorizer(), LinearSVC()).fit(*news["train"]).score(*news["test"])
    model = SVC(kernel=WORDS, C=10.0).fit(*news["train"])
    assert np.mean(model.predict(news["test"][0]) == news["test"][1]) >= peer - 0.005


def test_topics_with_a_tenth_of_the_labels(news):
    """Topics are learnt from all training documents; labels are known of every tenth."""
    (train, labels), (test, truth) = news["train"], news["test"]
    known = np.random.default_rng(0).permutation(len(train))[: len(train) // 10]
    scores = {}
    for name, kernel in {"words": WORDS, "topics": kernels.normalise(kernels.LatentSemantic(WORDS, k=50))}.items():
        fitted = kernel.fit(train)
        few = [train[i] for i in known]
        model = SVC(kernel="precomputed", C=1.0).fit(gram_of(fitted, few).dense(), labels[known])
        scores[name] = np.mean(model.predict(gram_of(fitted, test, few).dense()) == truth)
    assert scores["topics"] >= scores["words"]
