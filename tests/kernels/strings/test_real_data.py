"""String kernels on real sequences: at least what published or measured peers reach."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict, cross_val_score

from mercer import SVC, LinearSVC, kernels
from mercer.gram.make import gram_of

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


def gram(kernel, texts):
    return gram_of(kernel.fit(texts), texts, dtype=np.float64).dense()


def accuracy(kernel, texts, labels, folds, C=10.0):
    found = cross_val_predict(SVC(kernel="precomputed", C=C), gram(kernel, texts), labels, cv=folds)
    return np.mean(found == labels)


def nested_accuracy(candidates, texts, labels, folds, penalties=(1.0, 10.0), inner=5):
    """Of machines whose kernel and C were chosen by cross-validation on their training part alone."""
    matrices = [gram(kernel, texts) for kernel in candidates]
    right = 0
    for train, test in folds.split(texts, labels):
        within = StratifiedKFold(inner, shuffle=True, random_state=0)
        scores = {}
        for number, K in enumerate(matrices):
            for C in penalties:
                model, part = SVC(kernel="precomputed", C=C), K[np.ix_(train, train)]
                scores[number, C] = cross_val_score(model, part, labels[train], cv=within).mean()
        number, C = max(scores, key=lambda key: scores[key])
        model = SVC(kernel="precomputed", C=C).fit(matrices[number][np.ix_(train, train)], labels[train])
        right += np.sum(model.predict(matrices[number][np.ix_(test, train)]) == labels[test])
    return right / len(labels)


def test_promoters(load):
    texts, labels = load("strings/promotergene_kernlab")["all"]
    gapped = [kernels.normalise(kernels.GappedKmer(l=l, k=k)) for l, k in ((6, 4), (8, 5))]  # noqa: E741
    placed = [kernels.WeightedDegree(degree=degree, shift=shift) for degree in (4, 6) for shift in (0, 3)]
    assert nested_accuracy([*gapped, *placed], texts, labels, LeaveOneOut()) >= 0.92


def test_news(load):
    texts, labels = load("text/reuters_kernlab")["all"]
    candidates = [kernels.normalise(kernels.Spectrum(p=p)) for p in (3, 4, 5, 6)]
    assert nested_accuracy(candidates, texts, labels, LeaveOneOut()) >= 0.95


def test_splice_junctions(load):
    texts, labels = load("strings/splice_junction")["all"]
    texts = [text.strip() for text in texts]
    folds = StratifiedKFold(10, shuffle=True, random_state=0)
    assert accuracy(kernels.WeightedDegree(degree=5), texts, labels, folds) >= 0.96


def test_names(load):
    texts, labels = load("strings/names_gender")["all"]
    chosen = np.random.default_rng(0).permutation(len(texts))[:2000]
    texts, labels = [texts[i] for i in chosen], labels[chosen]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    letters = [kernels.normalise(kernels.Spectrum(p=1, lowercase=True))]
    words = [kernels.normalise(kernels.BlendedSpectrum(p=p, lowercase=True)) for p in (2, 3, 4)]
    floor = nested_accuracy(letters, texts, labels, folds, penalties=(1.0,), inner=3)
    assert nested_accuracy(words, texts, labels, folds, penalties=(1.0,), inner=3) > floor + 0.02


# At least what FastSK publishes. Whether the kernel is wrapped in a Gaussian, of which width, and C are chosen by
# cross-validation on the training half.
@pytest.mark.parametrize(("name", "floor"), [("CTCF", 0.970), ("EP300", 0.991)])
def test_binding_sites(load, name, floor):
    data = load("strings/fastsk_tfbs_dna")
    (train, labels), (test, truth) = data[f"{name}.train"], data[f"{name}.test"]
    plain = kernels.normalise(kernels.GappedKmer(l=10, k=6, reverse_complement=True, lowercase=True, unknown="skip"))
    fitted = plain.fit(train)
    cosines = gram_of(fitted, train).dense().astype(np.float64)
    matrices = {"none": cosines, **{gamma: np.exp(-gamma * (2 - 2 * cosines)) for gamma in (0.5, 1.0)}}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    scores = {
        (gamma, C): cross_val_score(SVC(kernel="precomputed", C=C), K, labels, cv=folds, scoring="roc_auc").mean()
        for gamma, K in matrices.items()
        for C in (1.0, 3.0, 10.0)
    }
    gamma, C = max(scores, key=lambda key: scores[key])
    kernel = plain if gamma == "none" else kernels.RBF(gamma=gamma, over=plain)
    model = SVC(kernel=kernel, C=C).fit(train, labels)
    assert roc_auc_score(truth, model.decision_function(test)) >= floor


def test_acceptor_sites(load):
    """A tenth of the windows around acceptor sites that the benchmark trains on, without a Gram matrix."""
    data = load("strings/c_elegans_acceptor_200k")
    (texts, labels), (new, truth) = (
        ([text[150:250] for text in data[part][0][:10_000]], data[part][1][:10_000])
        for part in ("first100k", "last100k")
    )
    model = LinearSVC(kernel=kernels.WeightedDegree(degree=6), C=0.003, class_weight="balanced").fit(texts, labels)
    assert roc_auc_score(truth, model.decision_function(new)) >= 0.98
