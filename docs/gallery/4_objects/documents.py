"""
Different words for one thing
=============================

Two documents on one topic may share no word. Latent semantic kernels look at which words occur together over all
documents, and compare along the leading directions. Here documents are docstrings of Python's standard library, and
the question is which class they come from.
"""

import datetime as dt
import decimal
import inspect
import pathlib
import threading

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC, kernels
from mercer.plots import KernelMatrixDisplay

documents, topics = [], []
for topic, homes in {
    "numbers": [decimal.Decimal, decimal.Context],
    "paths": [pathlib.Path, pathlib.PurePath],
    "threads": [threading, threading.Thread, threading.Condition, threading.Barrier],
    "times": [dt.datetime, dt.date, dt.timedelta],
}.items():
    for home in homes:
        for name, found in inspect.getmembers(home):
            text = inspect.getdoc(found) or ""
            if len(text) > 40 and not name.startswith("_") and text not in documents:
                documents.append(text)
                topics.append(topic)
topics = np.array(topics)
print({str(name): int((topics == name).sum()) for name in np.unique(topics)})

# %%
# Shared words give a faint picture: most pairs of docstrings on one topic have no telling word in common. Through
# eight latent directions, learnt from all of them without labels, the topics become blocks.

words = kernels.normalise(kernels.VectorSpace(weighting="smooth-tf-idf", stop_words="english"))
latent = kernels.normalise(kernels.LatentSemantic(words, k=8))
figure, axes = plt.subplots(1, 2, figsize=(12.5, 5))
for ax, (name, kernel) in zip(axes, {"shared words": words, "eight latent directions": latent}.items(), strict=True):
    KernelMatrixDisplay.from_kernel(kernel, documents, topics, ax=ax)
    ax.set_title(name, pad=14)

# %%
# So a few labelled documents go a long way. Means over twenty draws of the labelled ones:

random = np.random.default_rng(0)
matrices = {"shared words": words.fit(documents)(documents), "latent directions": latent.fit(documents)(documents)}
sizes = (1, 2, 4, 8)
figure, ax = plt.subplots(figsize=(6.5, 4))
for (name, gram), marker in zip(matrices.items(), "os", strict=True):
    means = []
    for size in sizes:
        scores = []
        for _ in range(20):
            seen = np.concatenate(
                [random.permutation(np.flatnonzero(topics == topic))[:size] for topic in np.unique(topics)]
            )
            rest = np.setdiff1d(np.arange(len(topics)), seen)
            model = SVC(kernel="precomputed", C=10).fit(gram[np.ix_(seen, seen)], topics[seen])
            scores.append(model.score(gram[np.ix_(rest, seen)], topics[rest]))
        means.append(np.mean(scores))
    ax.plot(sizes, means, marker=marker, label=name)
ax.set(xlabel="labelled docstrings of each topic", ylabel="accuracy on the others", xticks=sizes)
ax.legend()
