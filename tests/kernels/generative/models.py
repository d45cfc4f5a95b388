"""The probability models of the worked examples."""

import itertools

from mercer import kernels

MODEL = {"start": (0.6, 0.4), "transitions": ((0.7, 0.3), (0.2, 0.8)), "emissions": ((0.9, 0.1), (0.2, 0.8))}
HMM = kernels.FixedLengthHMM(alphabet="ab", **MODEL)
SHAPE = (-1, 0, 0, 1, 1)
TREE = kernels.HiddenTree(parents=SHAPE, alphabet="ab", **MODEL)
PAIRS = {"background": (0.5, 0.5), "weights": (0.5, 0.5), "classes": ((0.9, 0.1), (0.2, 0.8))}
PAIR = kernels.PairHMM(alphabet="ab", gap_open=0.2, gap_extend=0.3, stop=0.1, **PAIRS)
TABLE = ((0.7, 0.3), (0.4, 0.6))
MARKOV = kernels.MarkovFisher(alphabet="ab", probabilities=TABLE)
SCORES = kernels.HMMFisher(alphabet="ab", **MODEL)


def words(*lengths):
    return ["".join(word) for n in lengths for word in itertools.product("ab", repeat=n)]
