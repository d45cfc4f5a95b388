"""
A hundred thousand DNA windows
==============================

The Gram matrix of 100,000 sequences has ten thousand million entries: 80 GB. There is no need for it. A spectrum
kernel has explicit features, the counts of words, so the machine can learn one weight for each word and take time in
proportion to the number of windows.
"""

import time

import matplotlib.pyplot as plt

from mercer import LinearSVC, kernels
from mercer.datasets import make_dna

windows = 100_000
sequences, labels = make_dna(windows + 5000, mutation=0.35, random_state=0)
new, truth = sequences[windows:], labels[windows:]
kernel = kernels.normalise(kernels.Spectrum(p=6))

sizes = [windows // 100, windows // 30, windows // 10, windows // 3, windows]
scores, seconds = [], []
LinearSVC(kernel=kernel).fit(sequences[:100], labels[:100])  # compiles what it needs before the clock runs
for size in sizes:
    began = time.perf_counter()
    model = LinearSVC(kernel=kernel, C=0.1).fit(sequences[:size], labels[:size])
    seconds.append(time.perf_counter() - began)
    scores.append(model.score(new, truth))
    print(f"{size:7,} windows: {seconds[-1]:6.2f} s, {scores[-1]:.1%} of 5,000 new windows right")

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4))
left.semilogx(sizes, scores, marker="o")
left.set(xlabel="windows in training", ylabel="accuracy on 5,000 new windows", title="More data, better answers")
right.loglog(sizes, seconds, marker="s", color="#E69F00", label="measured")
right.loglog(sizes, [seconds[-1] * size / sizes[-1] for size in sizes], "--", color="gray", label="in proportion to n")
right.set(xlabel="windows in training", ylabel="seconds", title="Time grows with n, not with n²")
right.legend()
