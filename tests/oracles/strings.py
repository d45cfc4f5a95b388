"""Kernels on sequences by writing down every feature: slow, obvious, and independent of the library."""

import math
from collections import Counter
from itertools import combinations, pairwise, product


def dot(a, b):
    return sum(value * b[name] for name, value in a.items() if name in b)


def spectrum(s, t, p):
    def words(x):
        return Counter(tuple(x[i : i + p]) for i in range(len(x) - p + 1))

    return dot(words(s), words(t))


def blended(s, t, p, decay):
    return sum(decay ** (2 * q) * spectrum(s, t, q) for q in range(1, p + 1))


def mismatch(s, t, alphabet, p, m):
    def near(x):
        windows = [x[i : i + p] for i in range(len(x) - p + 1)]
        return Counter(
            {
                u: sum(sum(a != b for a, b in zip(u, w, strict=True)) <= m for w in windows)
                for u in product(alphabet, repeat=p)
            }
        )

    return dot(near(s), near(t))


def gapped_kmers(s, t, l, k, reverse_complement=False):  # noqa: E741
    def counts(x):
        strands = [x, turned(x)] if reverse_complement else [x]
        return Counter(
            (places, tuple(strand[i + q] for q in places))
            for strand in strands
            for i in range(len(strand) - l + 1)
            for places in combinations(range(l), k)
        )

    return dot(counts(s), counts(t))


def turned(x):
    return "".join("TGCA"["ACGT".index(c)] for c in reversed(x))


def subsequences(s, t, p, weight):
    """`weight(x, i)` is the weight of the index tuple i in x."""

    def features(x):
        found = {}
        for i in combinations(range(len(x)), p):
            u = tuple(x[r] for r in i)
            found[u] = found.get(u, 0) + weight(x, i)
        return found

    return dot(features(s), features(t))


def span(i):
    return i[-1] - i[0] + 1 if i else 0


def gap_weighted(s, t, p, decay):
    return subsequences(s, t, p, lambda _, i: decay ** span(i))


def restricted(s, t, p, m, decay):
    return subsequences(s, t, p, lambda _, i: decay ** span(i) if span(i) <= p + m else 0.0)


def gap_number(s, t, p, decay):
    return subsequences(s, t, p, lambda _, i: decay ** sum(b - a > 1 for a, b in pairwise(i)))


def character_weighted(s, t, p, decays, gaps_only=False):
    def weight(x, i):
        passed = [r for r in range(i[0], i[-1] + 1) if not (gaps_only and r in i)]
        return math.prod(decays[x[r]] for r in passed)

    return subsequences(s, t, p, weight)


def all_subsequences(s, t):
    return sum(subsequences(s, t, p, lambda *_: 1) for p in range(min(len(s), len(t)) + 1))


def soft_matching(s, t, p, decay, similarity):
    total = 0.0
    for i in combinations(range(len(s)), p):
        for j in combinations(range(len(t)), p):
            matched = math.prod(similarity(s[a], t[b]) for a, b in zip(i, j, strict=True))
            total += decay ** (span(i) + span(j)) * matched
    return total


def local_alignment(s, t, beta, score, opened, longer):
    """Every non-empty chain of aligned pairs, one by one."""

    def cost(gap):
        return opened + longer * (gap - 1) if gap else 0.0

    total = 1.0
    for size in range(1, min(len(s), len(t)) + 1):
        for i in combinations(range(len(s)), size):
            for j in combinations(range(len(t)), size):
                value = sum(score(s[a], t[b]) for a, b in zip(i, j, strict=True))
                for x in (i, j):
                    value -= sum(cost(b - a - 1) for a, b in pairwise(x))
                total += math.exp(beta * value)
    return total


def weighted_degree(s, t, degree, shift=0):
    total = 0.0
    for q in range(1, degree + 1):
        beta = 2 * (degree - q + 1) / (degree * (degree + 1))
        for i in range(len(s) - q + 1):
            for j in range(len(t) - q + 1):
                if abs(i - j) <= shift and s[i : i + q] == t[j : j + q]:
                    total += beta * (1.0 if i == j else 0.5 / (abs(i - j) + 1))
    return total
