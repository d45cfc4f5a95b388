"""
Which kernel for these data?
============================

Try several and let cross-validation decide. :py:func:`~mercer.compare` ranks kernels on the same folds; each gets the
best of a few penalties, and the table says how sure the ranking is.
"""

import matplotlib.pyplot as plt

from mercer import compare, kernels
from mercer.datasets import make_dna

sequences, labels = make_dna(300, random_state=1)
candidates = [
    kernels.normalise(kernels.Spectrum(p=2)),
    kernels.normalise(kernels.Spectrum(p=5)),
    kernels.normalise(kernels.BlendedSpectrum(p=6)),
    kernels.normalise(kernels.Mismatch("ACGT", p=5, m=1)),
    kernels.normalise(kernels.GappedKmer(l=8, k=5)),
    kernels.normalise(kernels.GapWeighted(p=3, decay=0.5)),
]
table = compare(candidates, sequences, labels)
print(table)

rows = list(table)[::-1]
figure, ax = plt.subplots(figsize=(8, 3.6))
ax.errorbar([row.score for row in rows], range(len(rows)), xerr=[row.spread for row in rows], fmt="o", capsize=4)
ax.set_yticks(range(len(rows)), [row.name for row in rows])
ax.axvline(0.5, color="gray", linestyle="--", label="guessing")
ax.set(xlabel="cross-validated accuracy, mean ± deviation over folds", title="Six kernels on strings")
ax.legend(loc="lower left")
