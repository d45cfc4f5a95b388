"""Kernels on strings against peers and against plain loops, as ratios of time, and how they grow.

Run with ``PYTHONPATH=src python benchmarks/strings.py [data folder] [parts]``. Systems take turns after a warm-up,
and the best of three counts. Peers are optional: `strkernels` from the registry. LS-GKM (C, one thread) was reported to
take about 115 s for the gapped k-mer Gram matrix; it is not run here, so that ratio compares two machines.
"""

from __future__ import annotations

import importlib.util
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numba
import numpy as np

from mercer import kernels
from mercer.gram.executors import Threads
from mercer.gram.matrix import Gram
from mercer.kernels.featuremap import explicit

THREADS = 2
LSGKM_SECONDS = 115.0


def main() -> None:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data")
    parts = [gap_weighted, growth, gapped_kmers, spectrum, acceptors]
    wanted = sys.argv[2:] or [part.__name__ for part in parts]
    print(f"{'what':<64}{'other':>10}{'ours':>10}{'ratio':>8}{'goal':>6}")
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
    """100,000 windows around acceptor sites: a linear machine on streamed features, tested on 100,000 others."""
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import roc_auc_score

    started = time.perf_counter()
    data = load("strings/c_elegans_acceptor_200k")
    fitted = kernels.WeightedDegree(degree=6).fit(["ACGT"])
    buckets = 2**22
    model = SGDClassifier(loss="hinge", alpha=1e-6, average=True, random_state=0)

    def blocks(texts: list[str]) -> Any:
        import scipy.sparse as sp

        for start in range(0, len(texts), 2_000):
            middle = [text[150:250] for text in texts[start : start + 2_000]]
            found = explicit(fitted, fitted.coerce(middle))
            columns = (found.ids % np.uint64(buckets)).astype(np.int32)
            shape = (len(middle), buckets)
            yield start, sp.csr_array((found.counts, columns, found.offsets.astype(np.int32)), shape=shape)

    texts, labels = data["first100k"]
    order = np.random.default_rng(0).permutation(len(texts))
    texts, labels = [texts[i] for i in order], labels[order]
    weights = np.where(labels > 0, 10.0, 1.0)
    for _ in range(2):
        for start, block in blocks(texts):
            rows = slice(start, start + block.shape[0])
            model.partial_fit(block, labels[rows], classes=[-1, 1], sample_weight=weights[rows])
    texts, labels = data["last100k"]
    scores = np.concatenate([model.decision_function(block) for _, block in blocks(texts)])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    area = roc_auc_score(labels, scores)
    print(f"acceptor sites: area under the curve {area:.4f}, {time.perf_counter() - started:.0f} s, {memory:.1f} GiB")


def gram(fitted: Any, texts: list[str], threads: int = THREADS) -> Any:
    return Gram.of(fitted, texts, dtype=np.float32, executor=Threads(threads)).dense()


def take_turns(other: Callable[[], Any], ours: Callable[[], Any], turns: int = 3) -> tuple[float, float]:
    other(), ours()
    times = [(best_of(1, other), best_of(1, ours)) for _ in range(turns)]
    return min(time for time, _ in times), min(time for _, time in times)


def best_of(turns: int, work: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(turns):
        started = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - started)
    return min(seconds)


def line(what: str, other: float, ours: float, goal: float) -> None:
    print(f"{what:<64}{other:>9.2f}s{ours:>9.2f}s{other / ours:>8.1f}{goal:>6}", flush=True)


def loader(folder: Path) -> Callable[[str], Any]:
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.load  # type: ignore[no-any-return]


if __name__ == "__main__":
    main()
