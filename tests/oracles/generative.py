"""Kernels from probability models by enumeration of everything hidden: slow and obvious."""

import itertools
import math

import numpy as np


def tree_kernel(s, t, parents, observed, start, transitions, emissions, alphabet="ab"):
    """Sum over all assignments of hidden states."""
    place = {node: position for position, node in enumerate(observed)}
    total = 0.0
    for hidden in itertools.product(range(len(start)), repeat=len(parents)):
        value = start[hidden[0]]
        for node, parent in enumerate(parents):
            if parent >= 0:
                value *= transitions[hidden[parent]][hidden[node]]
            if node in place:
                row = emissions[hidden[node]]
                value *= row[alphabet.index(s[place[node]])] * row[alphabet.index(t[place[node]])]
        total += value
    return total


def pair_features(s, gap_open, gap_extend, stop, background, weights, classes, alphabet="ab"):
    """The feature of every hidden word of classes: sqrt(P(word)) times the probability of s given it."""

    def gap(text):
        if not text:
            return 1 - gap_open
        fill = math.prod(background[alphabet.index(symbol)] for symbol in text)
        return gap_open * gap_extend ** (len(text) - 1) * (1 - gap_extend) * fill

    features = {}
    for size in range(len(s) + 1):
        for places in itertools.combinations(range(len(s)), size):
            edges = [-1, *places, len(s)]
            gaps = math.prod(gap(s[a + 1 : b]) for a, b in itertools.pairwise(edges))
            for word in itertools.product(range(len(weights)), repeat=size):
                emitted = math.prod(classes[c][alphabet.index(s[p])] for c, p in zip(word, places, strict=True))
                features[word] = features.get(word, 0.0) + gaps * emitted
    return {
        word: value * math.sqrt(stop * (1 - stop) ** len(word) * math.prod(weights[c] for c in word))
        for word, value in features.items()
    }


def pair_alignments(s, t, gap_open, gap_extend, stop, background, match, alphabet="ab"):
    """Every alignment of two strings: its probability, the matched pairs of symbols, and the number of gaps."""

    def gap(text):
        if not text:
            return 1 - gap_open
        fill = math.prod(background[alphabet.index(symbol)] for symbol in text)
        return gap_open * gap_extend ** (len(text) - 1) * (1 - gap_extend) * fill

    for size in range(min(len(s), len(t)) + 1):
        chosen = (itertools.combinations(range(len(text)), size) for text in (s, t))
        for places in itertools.product(*chosen):
            gaps = [
                text[a + 1 : b]
                for text, own in zip((s, t), places, strict=True)
                for a, b in itertools.pairwise([-1, *own, len(text)])
            ]
            pairs = [(alphabet.index(s[i]), alphabet.index(t[j])) for i, j in zip(*places, strict=True)]
            value = stop * (1 - stop) ** size * math.prod(map(gap, gaps)) * math.prod(match[a][b] for a, b in pairs)
            yield value, pairs, sum(map(bool, gaps))


def markov_score(s, table, order=1, alphabet="ab"):
    """n_ua / p_ua - n_u for every context and symbol."""
    contexts = ["".join(word) for word in itertools.product(alphabet, repeat=order)]
    scores = []
    for row, context in enumerate(contexts):
        after = [s[i + order] for i in range(len(s) - order) if s[i : i + order] == context]
        scores += [after.count(a) / table[row][column] - len(after) for column, a in enumerate(alphabet)]
    return np.asarray(scores)


def hmm_log_probability(codes, start, transitions, emissions):
    """By enumeration of all paths."""
    total = 0.0
    for path in itertools.product(range(len(start)), repeat=len(codes)):
        value = start[path[0]]
        for a, b in itertools.pairwise(path):
            value *= transitions[a][b]
        total += value * math.prod(emissions[a][x] for a, x in zip(path, codes, strict=True))
    return math.log(total)
