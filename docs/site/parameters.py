"""What the parameters of kernels and losses mean, for the tables of the reference.

A name means the same wherever it stands, unless the kernel is named with it.
"""

import dataclasses
import re
from typing import Any

MEANING: dict[str, str] = {
    "algorithm": "how it is computed; the values are the same",
    "alphabet": "the symbols that may occur, as a string or a list",
    "across": "how coordinates are combined: product or sum",
    "alpha": "how much narrow and wide Gaussians are mixed: small for many widths",
    "ambient": "the set D within which sets are compared; its size, or its elements",
    "analyzer": "what a term is: words or characters",
    "apply": "a function of a batch and a sample, which returns the values of the random functions",
    "arcs": "pairs of nodes (from, to)",
    "as_": "what is written in the column: smiles, morgan, morgan_counts or days",
    "background": "the probability of each symbol in gaps",
    "band": "how many steps apart two moments may be aligned",
    "beta": "how much the best alignments outweigh the others",
    "classes": "a row for each hidden class of the probabilities of its symbols",
    "coef0": "the constant that is added",
    "coefficients": "c₀, c₁, c₂ and so on, all zero or positive",
    "columns": "the names of the columns that the kernel sees",
    "components": "the number of Gaussians of the mixture",
    "covariance": "whether covariances are diagonal or full",
    "covariances": "the covariance of each component; learnt if None",
    "decay": "the factor λ by which matches fade",
    "decays": "a factor for each symbol",
    "default": "the factor of symbols that `decays` does not name",
    "degree": "the degree",
    "delta": "where squares end and straight lines begin",
    "depth_decay": "the factor for each level of depth",
    "draw": "a function that draws a sample of random functions",
    "edge_labels": "whether labels of edges count",
    "emissions": "a row for each state of the probabilities of symbols; learnt if None",
    "ends": "whether the labels of the two nodes of an edge count",
    "epsilon": "errors up to this size cost nothing",
    "exponent": "the power, a whole number",
    "factor": "the positive number c",
    "function": "your function",
    "gamma": "the inverse width; \"scale\", \"median\" and \"auto\" take it from the training objects",
    "gap_extend": "the price of each further symbol of a gap",
    "gap_open": "the price of a gap",
    "gaps_only": "whether matched symbols are free",
    "graph": "a networkx graph, or a symmetric matrix of similarities",
    "h": "the number of rounds: how far neighbourhoods reach",
    "half_width": "half the width of the tent",
    "information": "what scores are scaled by: the identity, or their mean square in training",
    "k": "the number of directions that are kept",
    "kernel": "the kernel inside",
    "knots": "where pieces meet; everywhere if None",
    "l": "the length of windows",
    "labelled": "whether labels count, or shapes alone",
    "landmarks": "how landmarks are chosen",
    "leaves": "whether single leaves count",
    "length_scale": "the distance ℓ over which values fade",
    "lower": "the lower end of all intervals",
    "lowercase": "whether upper and lower case are the same",
    "m": "the largest number of landmarks",
    "match": "the score of equal symbols",
    "matrix": "the symmetric matrix",
    "max_df": "leave out terms that more training documents have",
    "max_terms": "keep only this many of the most frequent terms",
    "mean": "whether to divide by the sizes of both sets",
    "means": "the mean of each component; learnt if None",
    "measure_of": "the weight μ of each element; 1 if None",
    "min_df": "leave out terms that fewer training documents have",
    "mismatch": "the score of unequal symbols",
    "mutation": "the probability that a symbol differs from its class",
    "ngrams": "the shortest and the longest run of words or characters that is a term",
    "node_labels": "whether labels of nodes count",
    "normalised": "whether the Laplacian is divided by the degrees",
    "normalize": "the Unicode form to which text is brought first",
    "nu": "the smoothness",
    "objects": "what your function takes: vectors, strings or items",
    "observed": "the nodes that emit symbols; the leaves if None",
    "order": "the order",
    "orthogonal": "whether directions are orthogonal in blocks, which makes the error smaller",
    "over": "another kernel, in whose feature space distances are taken",
    "p": "the length of words or subsequences",
    "parents": "the number of the parent of each node, -1 for the root",
    "period": "after how much the pattern repeats",
    "phi": "your features: a function of a batch, or a fitted transformer",
    "probabilities": "a row for each context of the probabilities of the next symbol; learnt if None",
    "proximity": "a matrix with a row for each term: how terms resemble each other",
    "psd": "say True if it is positive semi-definite; then nobody checks",
    "random_state": "the seed of what is drawn",
    "repair": "what to do with a matrix that is indefinite",
    "resolution": "lengths that agree to this much are equal",
    "reverse_complement": "whether both strands of DNA count",
    "samples": "how many sets of nodes are drawn in large graphs",
    "scaling": "what is compared: the cosine, relative frequencies or counts",
    "series": "how long walks fade",
    "shift": "how many places apart two words may stand",
    "sigma": "the distance over which moments count as similar",
    "sink": "the node where paths end",
    "size": "how many random functions are drawn",
    "smoothing": "what is added to each count when probabilities are estimated",
    "source": "the node where paths begin",
    "start": "the probability of each state at the start; learnt if None",
    "states": "the number of hidden states to learn",
    "steps": "the longest walk; any length if None",
    "stop": "the probability that the hidden word ends",
    "stop_words": "words to leave out",
    "strength": "how smooth functions on the graph must be",
    "symmetric": "say True if f(x, z) = f(z, x); then it is called once for each pair",
    "tau": "which quantile, from 0 to 1",
    "terms": "the kernels that are combined",
    "time": "how long heat spreads",
    "tokenizer": "your function from a text to its tokens",
    "tokens": "what a symbol is: a character or a word",
    "transitions": "a row for each state of the probabilities of the next; learnt if None",
    "uniform": "whether to divide by the number of pairs of walks' ends",
    "unknown": "what to do with symbols outside the alphabet",
    "upper": "the upper end of all intervals",
    "value": "the value",
    "weighting": "how terms are weighted",
    "weights": "a weight for each component or class; learnt if None",
    "ANOVA.degree": "how many different coordinates are multiplied",
    "ArcCosineFeatures.order": "the power of the neurons: 0 for steps, 1 for rectifiers",
    "Bilinear.matrix": "B, symmetric and positive semi-definite",
    "GappedKmer.k": "how many places of a window are compared at a time",
    "GappedKmer.weights": "a weight for each number of mismatches, instead of `k`",
    "Graphlet.size": "the number of nodes: 3, 4 or 5",
    "LocalAlignment.matrix": "scores of pairs of symbols, or the name of a table such as BLOSUM62",
    "LogLocalAlignment.matrix": "scores of pairs of symbols, or the name of a table such as BLOSUM62",
    "MarkovFisher.order": "how many symbols the next one depends on",
    "Mismatch.m": "how many places of a word may differ",
    "PairHMM.gap_extend": "the probability that a gap goes on",
    "PairHMM.gap_open": "the probability of a gap",
    "PairHMM.match": "a symmetric table of the probabilities of pairs, instead of `classes`",
    "Polynomial.gamma": "the factor of the dot product",
    "RestrictedGapWeighted.m": "how many symbols may be skipped in all",
    "Sigmoid.gamma": "the factor of the dot product; \"scale\", \"median\" and \"auto\" take it from the training objects",
    "SoftMatching.matrix": "similarities of pairs of symbols, or the name of a table such as BLOSUM62",
    "Spline.order": "the order s: 1 for broken lines, 3 for cubic curves",
    "VectorSpace.terms": "the terms that `proximity` has rows for",
    "VectorSpace.lowercase": "whether text is lowercased first",
    "WeightedDegree.degree": "the length of the longest words",
}  # fmt: skip


def table(kind: type) -> str:
    """A table of the parameters of a record, in the markup of Sphinx: name, default, meaning, and what it may be."""
    rows = [_row(kind, field) for field in dataclasses.fields(kind)]
    if not rows:
        return "It has no parameters.\n"
    head = ".. list-table:: Parameters\n   :header-rows: 1\n   :class: parameters\n\n   * - name\n     - default\n     - meaning\n"
    return head + "".join(f"   * - ``{name}``\n     - {default}\n     - {meaning}\n" for name, default, meaning in rows)


def _row(kind: type, field: dataclasses.Field[Any]) -> tuple[str, str, str]:
    meaning = MEANING.get(f"{kind.__name__}.{field.name}") or MEANING[field.name]
    meaning = re.sub(r"(?<!`)`([^`]+)`(?!`)", r"``\1``", meaning)
    default = "required" if field.default is dataclasses.MISSING else f"``{field.default!r}``"
    rule = _rule(kind, field)
    return field.name, default, f"{meaning}; {rule}" if rule else meaning


def _rule(kind: type, field: dataclasses.Field[Any]) -> str:
    """What values are allowed, as the check of the parameter itself says when it is given something else."""
    check = field.metadata.get("check")
    if check is None:
        return ""
    try:
        check(kind.__name__, field.name, object())
    except Exception as refusal:
        found = re.search(r"must be (?:an? )?(?P<rule>.+?)\. Got", str(refusal))
        rule = found["rule"] if found else ""
        rule = (
            rule.replace("int in", "a whole number in")
            .replace("float in", "a number in")
            .replace("9223372036854775807", "inf")
        )
        return "" if rule in ("bool", "") else rule.replace("one of ", "").replace("[-1e+06, 1e+06]", "")
    return ""
