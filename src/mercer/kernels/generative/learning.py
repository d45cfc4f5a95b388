"""Maximum likelihood for hidden tree models (hidden Markov models are chains) by the Baum-Welch algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from mercer._types import Float64
from mercer.kernels.generative.probabilities import Model

_MOST_STEPS, _LEAST_GAIN = 200, 1e-6
"""Learning ends after this many steps, or when a step raises the log-likelihood by a smaller fraction than this. More
steps fit the training strings ever more closely, and change the kernel little."""
_PSEUDO = 0.01
"""Added to every expected count to keep probabilities above 0."""


def learn(codes: Any, parents: Any, places: Any, states: int, symbols: int, random_state: int) -> Model:
    """A model of locally maximal likelihood, from a random start; the likelihood rises with every step.

    `codes` has a row for each string, `parents` the parent of each node, `places` the position it emits, or -1.
    """
    random = np.random.default_rng(random_state)
    shares = np.bincount(codes.ravel(), minlength=symbols) + 1.0
    model = (
        _rows(1.0 + random.random((1, states)))[0],
        _rows(1.0 + random.random((states, states)) + states * np.eye(states)),
        _rows((shares / shares.sum()) * (0.5 + random.random((states, symbols)))),
    )
    before = -np.inf
    for _ in range(_MOST_STEPS):
        counts, likelihood = expected(codes, parents, places, model)
        model = (_rows(counts[0] + _PSEUDO), _rows(counts[1] + _PSEUDO), _rows(counts[2] + _PSEUDO))
        if likelihood - before <= _LEAST_GAIN * abs(likelihood):
            break
        before = likelihood
    return model


def expected(codes: Any, parents: Any, places: Any, model: Model) -> tuple[Model, float]:
    """Expected counts of starts, transitions and emissions, and the logarithm of the likelihood."""
    start, transitions, emissions = model
    n, nodes = len(codes), len(parents)
    below = np.ones((nodes, n, len(start)))
    messages = np.empty_like(below)
    likelihood = 0.0
    for v in range(nodes - 1, -1, -1):  # upwards: the probability of what is below, given the state
        if places[v] >= 0:
            below[v] *= emissions[:, codes[:, places[v]]].T
        total = below[v].sum(axis=1, keepdims=True)
        below[v] /= total
        likelihood += float(np.log(total).sum())
        if v:
            messages[v] = below[v] @ transitions.T
            below[parents[v]] *= messages[v]
    counts = (np.zeros_like(start), np.zeros_like(transitions), np.zeros_like(emissions))
    posterior = np.empty_like(below)
    posterior[0] = start * below[0]
    total = posterior[0].sum(axis=1, keepdims=True)
    posterior[0] /= total
    likelihood += float(np.log(total).sum())
    counts[0][:] = posterior[0].sum(axis=0)
    for v in range(nodes):  # downwards: the probability of each state, given everything
        if v:
            outside = posterior[parents[v]] / np.maximum(messages[v], 1e-300)
            counts[1][:] += transitions * (outside.T @ below[v])
            posterior[v] = (outside @ transitions) * below[v]
            posterior[v] /= posterior[v].sum(axis=1, keepdims=True)
        if places[v] >= 0:
            np.add.at(counts[2].T, codes[:, places[v]], posterior[v])
    return counts, likelihood


def _rows(table: Any) -> Float64:
    return np.asarray(table / table.sum(axis=-1, keepdims=True))
