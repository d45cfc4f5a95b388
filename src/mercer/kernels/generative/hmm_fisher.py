"""The Fisher kernel of a hidden Markov model on strings."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from mercer._jit import Array, jit
from mercer._record import choice, integer
from mercer._types import Float64
from mercer.errors import InputError, MissingExtraError
from mercer.inputs.strings import Strings
from mercer.kernels.base import State
from mercer.kernels.features.alphabet import Alphabet, encode_known, known_symbols
from mercer.kernels.generative.fisher import INFORMATION, Fisher
from mercer.kernels.generative.probabilities import EXAMPLE, MODEL, Model, Row, Rows, check_hidden_model, given_model
from mercer.kernels.generative.tree_loop import log_sum


@final
@dataclass(frozen=True)
class HMMFisher(Fisher):
    """The Fisher kernel of a hidden Markov model: k(s, t) = phi(s)' I^-1 phi(t), phi the gradient of log P(s).

    With n(.) the counts expected given the string, the gradient has n_a / start_a - 1 for the first state,
    n_ab / transitions_ab - n_a for steps, and n_ax / emissions_ax - n_a for symbols. Probabilities of 0 are not
    parameters, and have no score. The model is given as `start`, `transitions` and `emissions` over an `alphabet`;
    if these are None, `fit` trains a model of `states` states with hmmlearn (extra ``hmm``). The `information` I is
    ``"identity"``, or ``"empirical"``: the mean of phi phi' over the training strings, whose pseudo-inverse is used.
    Strings may have any lengths; the empty string has the score 0.

    `random_state` is the seed of the starts from which probabilities are learnt.

    >>> from mercer import kernels
    >>> model = dict(start=(0.6, 0.4), transitions=((0.7, 0.3), (0.2, 0.8)), emissions=((0.9, 0.1), (0.2, 0.8)))
    >>> kernels.HMMFisher(alphabet="ab", **model).fit(["ab"])(["ab"], ["ab", "ba"]).round(4)
    array([[2.7368, 0.6907]])
    """

    states: int = integer(2, low=1, high=1000)
    alphabet: Alphabet | None = None
    information: str = choice(*INFORMATION)
    start: Row | None = None
    transitions: Rows | None = None
    emissions: Rows | None = None
    random_state: int = integer(0, low=0)

    domain = Strings
    variants = (EXAMPLE, {**EXAMPLE, "information": "empirical"})

    def __post_init__(self) -> None:
        super().__post_init__()
        check_hidden_model(self)

    @property
    def data_dependent(self) -> bool:
        return self.start is None or self.information == "empirical"

    def model(self, objects: Strings) -> State:
        symbols = known_symbols(objects, self.alphabet)
        codes = encode_known(objects, symbols, "HMMFisher")
        model = given_model(self)
        if model is None:
            model = _trained(codes, objects.lengths, self.states, len(symbols), self.random_state)
        return State({"symbols": symbols, **dict(zip(MODEL, model, strict=True))})

    def scores(self, objects: Strings, state: State) -> Float64:
        codes = encode_known(objects, state.values["symbols"], "HMMFisher")
        model = [state.values[name] for name in MODEL]
        with np.errstate(divide="ignore"):
            logs = [np.log(table) for table in model]
        firsts, steps, shown = (np.zeros((len(objects), *table.shape)) for table in model)
        impossible = np.zeros(len(objects), dtype=bool)
        for number, (begin, end) in enumerate(zip(objects.offsets[:-1], objects.offsets[1:], strict=True)):
            if begin < end:
                counts = (firsts[number], steps[number], shown[number])
                found = _expected(codes[begin:end], logs[0], logs[1], logs[2], *counts)
                impossible[number] = not np.isfinite(found)
        if impossible.any():
            raise InputError(
                f"String {int(np.flatnonzero(impossible)[0])} has the probability 0 under the model of HMMFisher, so "
                "it has no score. Smooth the probabilities."
            )
        pieces = [_score(firsts[:, None, :], model[0][None]), _score(steps, model[1]), _score(shown, model[2])]
        return np.hstack([piece.reshape(len(objects), -1) for piece in pieces])


def _score(counts: Float64, probabilities: Float64) -> Float64:
    """n_ab / p_ab - n_a, and 0 where p_ab is 0."""
    rate = np.divide(1.0, probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    return np.asarray(counts * rate - counts.sum(axis=2, keepdims=True) * (probabilities > 0))


def _trained(codes: Any, lengths: Any, states: int, symbols: int, random_state: int) -> Model:
    try:
        from hmmlearn.hmm import CategoricalHMM
    except ImportError as error:
        raise MissingExtraError(
            "HMMFisher without a model needs hmmlearn to train one. Install the extra: pip install 'mercer[hmm]'; or "
            "give start, transitions and emissions."
        ) from error
    import logging

    model = CategoricalHMM(
        n_components=states, n_features=symbols, random_state=random_state, n_iter=200, tol=1e-4,
        startprob_prior=1.1, transmat_prior=1.1, emissionprob_prior=1.1,
    )  # fmt: skip
    logger = logging.getLogger("hmmlearn")
    before = logger.level
    with contextlib.ExitStack() as stack:
        stack.callback(logger.setLevel, before)
        logger.setLevel(logging.ERROR)  # it reports each step that does not raise the likelihood without priors
        model.fit(codes.reshape(-1, 1), lengths[lengths > 0])
    return np.asarray(model.startprob_), np.asarray(model.transmat_), np.asarray(model.emissionprob_)


@jit(reassociate=False)
def _expected(codes: Array, start: Array, transitions: Array, emissions: Array, first: Array, steps: Array,
              shown: Array) -> Any:  # fmt: skip
    """Expected counts of first states, steps and symbols, given the string; all tables are logarithms.

    Returns the logarithm of the probability of the string.
    """
    n, states = codes.shape[0], start.shape[0]
    forward = np.empty((n, states))
    backward = np.zeros((n, states))
    ways = np.empty(states)
    for a in range(states):
        forward[0, a] = start[a] + emissions[a, codes[0]]
    for i in range(1, n):
        for a in range(states):
            forward[i, a] = emissions[a, codes[i]] + log_sum(forward[i - 1], transitions[:, a])
    for i in range(n - 2, -1, -1):
        for a in range(states):
            for b in range(states):
                ways[b] = transitions[a, b] + emissions[b, codes[i + 1]]
            backward[i, a] = log_sum(ways, backward[i + 1])
    likelihood = log_sum(forward[n - 1], backward[n - 1])
    if likelihood == -np.inf:
        return likelihood
    for i in range(n):
        for a in range(states):
            here = np.exp(forward[i, a] + backward[i, a] - likelihood)
            shown[a, codes[i]] += here
            if i == 0:
                first[a] += here
            if i + 1 < n:
                for b in range(states):
                    ahead = emissions[b, codes[i + 1]] + backward[i + 1, b]
                    steps[a, b] += np.exp(forward[i, a] + transitions[a, b] + ahead - likelihood)
    return likelihood
