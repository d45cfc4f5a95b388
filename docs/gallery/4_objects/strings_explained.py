"""
Which letters decided?
======================

A machine on strings compares them by the words that they share. So its decision can be handed back to the letters:
each gets its part of every word that it belongs to, and the parts add up to f(x). Tall bars find the planted motif
without being told that there is one.
"""

import matplotlib.pyplot as plt

from mercer import SVC, kernels
from mercer.datasets import make_dna
from mercer.plots import SequenceExplanationDisplay

sequences, labels = make_dna(600, random_state=0)
model = SVC(kernel=kernels.normalise(kernels.Spectrum(p=5)), C=10).fit(sequences[:500], labels[:500])
print(f"{model.score(sequences[500:], labels[500:]):.0%} of 100 new sequences are right")

# %%
# Promoters were planted with mutated copies of TATAATGC and TTGACAGC. Here is a new one.

promoters = [text for text, label in zip(sequences[500:], labels[500:], strict=True) if label == "promoter"]
text = next(text for text in promoters if "TATAATGC" in text and len(text) <= 60)
print(text, "has TATAATGC at position", text.index("TATAATGC") + 1)
SequenceExplanationDisplay.from_estimator(model, text)
plt.show()

# %%
# And here is a decoy, whose motifs are made of the same letters in another order.

decoy = next(text for text, label in zip(sequences[500:], labels[500:], strict=True) if label == "decoy")
SequenceExplanationDisplay.from_estimator(model, decoy)
plt.show()
