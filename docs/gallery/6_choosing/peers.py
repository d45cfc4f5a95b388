"""
Learning curves, against the alternatives
=========================================

The same sequences, learnt by a machine that compares strings and by what scikit-learn offers for texts: counts of
letter groups, with naive Bayes, a forest and a linear machine. Averages over five draws, all tried on the same 1,000
new sequences. A linear machine on counts is a spectrum kernel too, and does as well; windows with gaps find the motifs
from fewer sequences.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from mercer import SVC, kernels
from mercer.datasets import make_dna

sequences, labels = make_dna(4000, random_state=0)
new, truth = sequences[3000:], labels[3000:]
sizes = [50, 100, 200, 400, 800]


def counts(kind=CountVectorizer):
    return kind(analyzer="char", ngram_range=(5, 5), lowercase=False)


learners = {
    "Mercer: SVC, gapped k-mers": lambda: SVC(kernel=kernels.normalise(kernels.GappedKmer(l=8, k=5)), C=10),
    "Mercer: SVC, spectrum of 5": lambda: SVC(kernel=kernels.normalise(kernels.Spectrum(p=5)), C=10),
    "scikit-learn: LinearSVC on counts of 5": lambda: make_pipeline(counts(TfidfVectorizer), LinearSVC()),
    "scikit-learn: naive Bayes on counts of 5": lambda: make_pipeline(counts(), MultinomialNB()),
    "scikit-learn: random forest on counts of 5": lambda: make_pipeline(
        counts(), RandomForestClassifier(100, random_state=0)
    ),
}
random = np.random.default_rng(0)
draws = {size: [random.permutation(3000)[:size] for _ in range(5)] for size in sizes}
figure, ax = plt.subplots(figsize=(8, 4.8))
for (name, make), marker in zip(learners.items(), "os^Dv", strict=True):
    scores = [
        [make().fit([sequences[i] for i in own], [labels[i] for i in own]).score(new, truth) for own in draws[size]]
        for size in sizes
    ]
    ax.errorbar(sizes, np.mean(scores, axis=1), np.std(scores, axis=1), marker=marker, capsize=3, label=name)
ax.set(
    xscale="log", xlabel="training sequences", ylabel="accuracy on 1,000 new sequences", title="Promoters and decoys",
    xticks=sizes, xticklabels=sizes,
)  # fmt: skip
ax.minorticks_off()
ax.legend(loc="lower right", fontsize="small")
