"""Kernels on strings against peers and against plain loops, as ratios of time, and how they grow.

Run with ``python benchmarks/strings.py [data folder] [parts]``. Systems take turns after a warm-up,
and the best of three counts. Peers are optional: `strkernels` from the registry. LS-GKM (C, one thread) was reported to
take about 115 s for the gapped k-mer Gram matrix; it is not run here, so that ratio compares two machines.
"""

from __future__ import annotations

import importlib.util
import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np
from timing import DATA, best_of, head, line, loader, seconds, take_turns

# isort: split
from mercer import LinearSVC, kernels
from mercer.gram.executors import Threads
from mercer.gram.make import gram_of
from mercer.kernels.features.feature_map import explicit

THREADS = 2
LSGKM_SECONDS = 115.0


def main() -> None:
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    parts = [gap_weighted, growth, gapped_kmers, spectrum, acceptors]
    wanted = sys.argv[2:] or [part.__name__ for part in parts]
    head()
    for part in parts:
        if part.__name__ in wanted and (data.is_dir() or part in (gap_weighted, growth)):
            part(loader(data) if data.is_dir() else None)


def gapped_kmers(load: Any) -> None:
    """Both strands of 2,000 sequences of 100 bp, l = 10, k = 6."""
    texts = load("strings/fastsk_tfbs_dna")["CTCF.train"][0][:2000]
    kernel = kernels.GappedKmer(l=10, k=6, reverse_complement=True, lowercase=True, unknown="skip")
    fitted = kernel.fit(texts)
    gram(fitted, texts[:64])
    started = time.process_time()
    seconds = best_of(3, lambda: gram(fitted, texts))
    line("gapped k-mer Gram (2,000 x 100 bp) / LS-GKM, as reported", LSGKM_SECONDS, seconds, 10)
    print(f"{'':<4}processor seconds per Gram: {(time.process_time() - started) / 3:.2f}")


def spectrum(load: Any) -> None:
    if importlib.util.find_spec("strkernels") is None:
        print("strkernels is not installed: no comparison of spectra")
        return
    from strkernels import SpectrumStringKernel

    texts = [text.upper() for text in load("strings/fastsk_tfbs_dna")["CTCF.train"][0][:200]]
    fitted = kernels.Spectrum(p=5).fit(texts)
    theirs = SpectrumStringKernel(order=5)
    array = np.array(texts, dtype=object)
    other, ours = take_turns(lambda: theirs(array, array), lambda: gram(fitted, texts))
    line("spectrum Gram, p=5 (200 x 100 bp) / strkernels", other, ours, 20)


def gap_weighted(load: Any) -> None:
    del load
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("abcdefghijklmnopqrst"), size=100)) for _ in range(1000)]
    kernel = kernels.GapWeighted(p=4, decay=0.5)
    fitted = kernel.fit(texts)
    codes = np.asarray([[ord(symbol) for symbol in text] for text in texts])
    part = codes[:100]

    def scalar() -> None:
        for i in range(len(part)):
            for j in range(i, len(part)):
                plain_gap_weighted(part[i], part[j], 4, 0.5)

    few = kernels.GapWeighted(p=4, decay=0.5).fit(texts[:100])
    other, ours = take_turns(scalar, lambda: gram(few, texts[:100], threads=1))
    line("gap-weighted Gram, p=4 (100 x 100), 1 thread / scalar loop", other, ours, 4)
    print(f"{'':<4}all 1,000 strings: {best_of(1, lambda: gram(fitted, texts)):.1f} s on {THREADS} threads")


@numba.njit
def plain_gap_weighted(s: Any, t: Any, p: int, decay: float) -> float:
    """The recursion of the textbook, one pair at a time."""
    S = np.zeros((len(s) + 1, len(t) + 1))
    D = np.zeros((len(s) + 1, len(t) + 1))
    total = 0.0
    for i in range(len(s)):
        for j in range(len(t)):
            S[i + 1, j + 1] = decay * decay if s[i] == t[j] else 0.0
    for _ in range(1, p):
        total = 0.0
        for i in range(1, len(s) + 1):
            for j in range(1, len(t) + 1):
                D[i, j] = S[i, j] + decay * (D[i - 1, j] + D[i, j - 1]) - decay * decay * D[i - 1, j - 1]
                S[i, j] = 0.0
                if s[i - 1] == t[j - 1]:
                    S[i, j] = decay * decay * D[i - 1, j - 1]
                    total += S[i, j]
    return total


def growth(load: Any) -> None:
    """Counting kernels grow linearly with the total length."""
    del load
    rng = np.random.default_rng(0)
    letters = np.asarray(list("ACGT"))
    texts = ["".join(row) for row in letters[rng.integers(0, 4, size=(100_000, 60))]]
    for kernel in (kernels.Spectrum(p=6), kernels.WeightedDegree(degree=4), kernels.GappedKmer(l=5, k=3)):
        sizes, seconds = (1_000, 10_000, 100_000), []
        for size in sizes:
            fitted = kernel.fit(texts[:size])
            mapped = partial(map_in_blocks, fitted, fitted.coerce(texts[:size]))
            seconds.append(best_of(3 if size < 100_000 else 1, mapped))
        slope = np.polyfit(np.log(sizes), np.log(seconds), 1)[0]
        shown = ", ".join(f"{second:.3f}" for second in seconds)
        print(f"{kernel!s:<40} n = 1k, 10k, 100k: {shown} s; exponent {slope:.2f} (goal <= 1.1)")


def map_in_blocks(fitted: Any, objects: Any, step: int = 2_000) -> None:
    for start in range(0, len(objects), step):
        explicit(fitted, objects.take(slice(start, start + step)))


def acceptors(load: Any) -> None:
    """100,000 windows around acceptor sites, features streamed, then 100,000 others; the middle 100 of 398 symbols.

    Degree and C were chosen on 20,000 held-out windows of the first 100,000.
    """
    from sklearn.metrics import roc_auc_score

    data = load("strings/c_elegans_acceptor_200k")
    (texts, labels), (new, truth) = (
        ([text[150:250] for text in data[part][0]], data[part][1]) for part in ("first100k", "last100k")
    )
    model = LinearSVC(kernel=kernels.WeightedDegree(degree=6), C=0.003, class_weight="balanced")
    trained = seconds(lambda: model.fit(texts, labels))
    found: dict[str, Any] = {}
    scored = seconds(lambda: found.update(values=model.decision_function(new)))
    area = roc_auc_score(truth, found["values"])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"acceptor sites, {model.coef_.shape[1]:,} features: trained in {trained:.0f} s (goal < 600), scored in "
        f"{scored:.0f} s, {memory:.1f} GiB (goal < 4); area under the curve {area:.4f}, duality gap "
        f"{model.certificate_.relative_gap:.1e}"
    )


def gram(fitted: Any, texts: list[str], threads: int = THREADS) -> Any:
    return gram_of(fitted, texts, dtype=np.float32, executor=Threads(threads)).dense()


if __name__ == "__main__":
    main()
