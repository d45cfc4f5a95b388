"""Counts of induced subgraphs with 3, 4 or 5 nodes, by isomorphism class.

Classes are ordered by number of edges, then by degrees, largest first, then by their smallest adjacency code.
"""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np

from mercer._jit import Array, jit
from mercer._types import Float64, Int64
from mercer.inputs.graphs import Graphs
from mercer.kernels.loops.mixing import mix
from mercer.kernels.loops.pairs import longest_part

ENUMERATED = 60
"""In graphs of up to this many nodes all sets of five are enumerated, at most 5.5 million; larger ones are sampled."""


def of_size_3(graphs: Graphs) -> Float64:
    """Counts of sets of three nodes with 0, 1, 2 and 3 edges."""
    found = _counts(graphs.offsets, graphs.bounds, graphs.neighbours, False)
    n, m, wedges, triangles = found[:, 0], found[:, 1], found[:, 2], found[:, 3]
    two = wedges - 3 * triangles
    one = m * (n - 2) - 2 * two - 3 * triangles
    none = _choose(n, 3) - one - two - triangles
    return np.where(n[:, None] >= 3, np.stack([none, one, two, triangles], axis=1), 0.0)


def of_size_4(graphs: Graphs) -> Float64:
    """Closed formulas: subgraphs that need not be induced, from degrees and common neighbours, then subtraction."""
    found = _counts(graphs.offsets, graphs.bounds, graphs.neighbours, True)
    n, m, wedges, triangles, stars, walks, squares, tails, chords, complete = found.T
    diamond = chords - 6 * complete
    cycle = squares - diamond - 3 * complete
    paw = tails - 4 * diamond - 12 * complete
    star = stars - paw - 2 * diamond - 4 * complete
    path = walks - 3 * triangles - 4 * cycle - 2 * paw - 6 * diamond - 12 * complete
    # Counts of disconnected classes follow by double counting their parts in all sets of four.
    lone_triangle = triangles * (n - 3) - paw - 2 * diamond - 4 * complete
    apart = m * (m - 1) / 2 - wedges - path - 2 * cycle - paw - 2 * diamond - 3 * complete
    met = (wedges - 3 * triangles) * (n - 3) - 3 * star - 2 * path - 4 * cycle - 2 * paw - 2 * diamond
    edges = 2 * (apart + met) + 3 * (lone_triangle + star + path) + 4 * (paw + cycle) + 5 * diamond + 6 * complete
    one = m * _choose(n - 2, 2) - edges
    classes = [one, met, apart, star, lone_triangle, path, paw, cycle, diamond, complete]
    none = _choose(n, 4) - sum(classes)
    return np.where(n[:, None] >= 4, np.stack([none, *classes], axis=1), 0.0)


def of_size_5(graphs: Graphs, samples: int, random_state: int) -> Float64:
    """Every set of five nodes, or a sample of them in large graphs, looked up in a table of adjacency codes."""
    table = classes_of_codes(5)
    counts = np.zeros((len(graphs), int(table.max()) + 1))
    for number, size in enumerate(graphs.sizes.tolist()):
        if size < 5:
            continue
        start, end = graphs.arc_offsets[number : number + 2]
        if size <= ENUMERATED:
            near = np.zeros((size, size), dtype=np.int64)
            near[graphs.sources[start:end], graphs.neighbours[start:end]] = 1
            _enumerate_5(near, table, counts[number])
        else:
            node = graphs.offsets[number]
            bounds = graphs.bounds[node : node + size + 1] - start
            _sample_5(bounds, graphs.neighbours[start:end], table, samples, random_state, counts[number])
            counts[number] *= float(_choose(np.float64(size), 5)) / samples
    return counts


@functools.cache
def classes_of_codes(size: int) -> Int64:
    """The class of each adjacency code: bit b of a code says whether the b-th pair (0,1), (0,2), (1,2), (0,3) ... is
    joined."""
    pairs = [(i, j) for j in range(size) for i in range(j)]
    place = {pair: bit for bit, pair in enumerate(pairs)}
    codes = np.arange(2 ** len(pairs))
    bits = (codes[:, None] >> np.arange(len(pairs))) & 1
    smallest = codes.copy()
    for order in itertools.permutations(range(size)):
        moved = [place[min(order[i], order[j]), max(order[i], order[j])] for i, j in pairs]
        smallest = np.minimum(smallest, (bits << np.asarray(moved)).sum(axis=1))
    degrees = np.zeros((len(codes), size), dtype=np.int64)
    for bit, (i, j) in enumerate(pairs):
        degrees[:, i] += bits[:, bit]
        degrees[:, j] += bits[:, bit]
    degrees = -np.sort(-degrees, axis=1)
    keys = [(int(bits[code].sum()), *(-degrees[code]).tolist(), int(code)) for code in np.unique(smallest)]
    number = {key[-1]: position for position, key in enumerate(sorted(keys))}
    return np.asarray([number[int(code)] for code in smallest], dtype=np.int64)


def _choose(n: Any, k: int) -> Any:
    """The binomial coefficient, zero if n < k."""
    result = np.ones_like(n)
    for i in range(k):
        result = result * np.maximum(n - i, 0) / (i + 1)
    return np.rint(result)


@jit
def _counts(offsets: Array, bounds: Array, neighbours: Array, four: bool) -> Any:
    """For each graph, without loops, the numbers of nodes, edges, pairs of edges that meet and triangles; with `four`
    also of triples of edges at a node, walks of three edges, squares, triangles with a tail, squares with a chord,
    complete graphs.
    """
    graphs = offsets.shape[0] - 1
    out = np.zeros((graphs, 10 if four else 4), dtype=np.float64)
    largest = longest_part(offsets)
    near = np.zeros(largest, dtype=np.uint8)
    twice = np.zeros(largest, dtype=np.int64)
    touched = np.empty(largest, dtype=np.int64)
    common = np.empty(largest, dtype=np.int64)
    degree = np.empty(largest, dtype=np.int64)
    corners = np.empty(largest, dtype=np.int64)
    for g in range(graphs):
        base = offsets[g]
        n = offsets[g + 1] - base
        for u in range(n):
            degree[u] = 0
            corners[u] = 0
            for a in range(bounds[base + u], bounds[base + u + 1]):
                degree[u] += neighbours[a] != u
        m = wedges = triangles = stars = walks = squares = tails = chords = complete = 0
        for u in range(n):
            d = degree[u]
            m += d
            wedges += d * (d - 1) // 2
            stars += d * (d - 1) * (d - 2) // 6
            first, last = bounds[base + u], bounds[base + u + 1]
            for a in range(first, last):
                near[neighbours[a]] = neighbours[a] != u
            reached = 0
            for a in range(first, last):
                v = neighbours[a]
                if v == u:
                    continue
                shared = 0
                for b in range(bounds[base + v], bounds[base + v + 1]):
                    w = neighbours[b]
                    if w == v:
                        continue
                    if near[w]:
                        if v > u:
                            common[shared] = w
                        shared += 1
                    if four and w > u:
                        if twice[w] == 0:
                            touched[reached] = w
                            reached += 1
                        twice[w] += 1
                corners[u] += shared
                if v < u:
                    continue
                triangles += shared
                if not four:
                    continue
                walks += (d - 1) * (degree[v] - 1)
                chords += shared * (shared - 1) // 2
                # Complete graphs with u < v < x < y: y is searched among the neighbours of x.
                for i in range(shared):
                    x = common[i]
                    if x < v:
                        continue
                    j = i + 1
                    for b in range(bounds[base + x], bounds[base + x + 1]):
                        y = neighbours[b]
                        while j < shared and common[j] < y:
                            j += 1
                        if j == shared:
                            break
                        if common[j] == y and y > x:
                            complete += 1
            for i in range(reached):
                c = twice[touched[i]]
                squares += c * (c - 1) // 2
                twice[touched[i]] = 0
            for a in range(first, last):
                near[neighbours[a]] = 0
        for u in range(n):
            tails += corners[u] // 2 * (degree[u] - 2)
        out[g, 0] = n
        out[g, 1] = m // 2
        out[g, 2] = wedges
        out[g, 3] = triangles // 3
        if four:
            out[g, 4] = stars
            out[g, 5] = walks
            out[g, 6] = squares // 2
            out[g, 7] = tails
            out[g, 8] = chords
            out[g, 9] = complete
    return out


@jit
def _enumerate_5(near: Array, table: Array, counts: Array) -> None:
    n = near.shape[0]
    for e in range(4, n):
        for d in range(3, e):
            bit_de = near[d, e] << 9
            for c in range(2, d):
                part_c = bit_de | (near[c, d] << 5) | (near[c, e] << 8)
                for b in range(1, c):
                    part_b = part_c | (near[b, c] << 2) | (near[b, d] << 4) | (near[b, e] << 7)
                    for a in range(b):
                        code = part_b | near[a, b] | (near[a, c] << 1) | (near[a, d] << 3) | (near[a, e] << 6)
                        counts[table[code]] += 1.0


@jit
def _sample_5(bounds: Array, neighbours: Array, table: Array, samples: int, seed: int, counts: Array) -> None:
    """Sets of five different nodes, each as likely as any other."""
    n = bounds.shape[0] - 1
    state = mix(np.uint64(seed)) + np.uint64(n) * np.uint64(0x2545F4914F6CDD1D) + np.uint64(neighbours.shape[0])
    chosen = np.empty(5, dtype=np.int64)
    for _ in range(samples):
        k = 0
        while k < 5:
            state += np.uint64(0x9E3779B97F4A7C15)
            # The upper 32 bits, scaled to 0..n-1: the bias is below n / 2^32.
            node = np.int64(((mix(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))
            fresh = True
            for i in range(k):
                fresh = fresh and chosen[i] != node
            if fresh:
                chosen[k] = node
                k += 1
        code = 0
        bit = 0
        for j in range(1, 5):
            for i in range(j):
                low, high = bounds[chosen[i]], bounds[chosen[i] + 1]
                while low < high:
                    middle = (low + high) // 2
                    if neighbours[middle] < chosen[j]:
                        low = middle + 1
                    else:
                        high = middle
                if low < bounds[chosen[i] + 1] and neighbours[low] == chosen[j]:
                    code |= 1 << bit
                bit += 1
        counts[table[code]] += 1.0
