"""Candidate kernels: the short list that is tried if no kernel is given."""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from mercer import kernels
from mercer.errors import InputError
from mercer.inputs.base import Objects
from mercer.inputs.categories import Categories
from mercer.inputs.graphs import Graphs
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors
from mercer.jobs.preparation import Preparation
from mercer.kernels.base import Kernel
from mercer.readers.data import CATEGORY, SEQUENCE, SMILES, TEXT, TREE
from mercer.selection.learner import rounded

_WIDTHS = (1.0, 0.25, 4.0)
"""Factors on the default gamma: half and twice the default width. More widths take more time."""
_SMALL_ALPHABET = 6
"""Up to this many letters (DNA and RNA have four) substrings of six letters repeat, and mismatches are affordable."""
_AMBIGUOUS = "RYSWKMBDHVN-"
_PLAIN = 0.9
"""Sequences with ambiguous letters count as DNA or RNA if at least this fraction of their letters is one of the four.
"""
_SHORT, _LONG = 5, 2000
"""Strings of one length within these bounds are also compared by position: shorter ones have too few positions, and
the cost grows with the length."""
_SPACES, _SPACED = 2, 0.08
"""Strings are prose with this many spaces each, and this fraction of spaces among their letters: words of 4 to 8
letters have a tenth to a fifth."""
_DOMAINS: dict[str, type[Objects]] = {"vectors": Vectors, "strings": Strings, "graphs": Graphs, "trees": Trees}
_SAMPLE = 300
"""How many objects the default gamma is measured on; it is then rounded to three digits."""


def candidates(objects: Any, preparation: Preparation) -> list[Kernel]:
    """Kernels on these objects, simple and cheap ones first; their widths are numbers, measured on these objects."""
    kind = preparation.kind
    if kind == "gram":
        return [kernels.Precomputed()]
    if kind == "table":
        return on_table(objects, preparation)
    by_kind: dict[str, Callable[[Any], list[Kernel]]] = {
        "vectors": on_numbers,
        "strings": on_strings,
        "trees": on_trees,
        "graphs": on_graphs,
    }
    return by_kind[kind](objects)


def on_numbers(vectors: Vectors) -> list[Kernel]:
    """Linear, quadratic, and Gaussian kernels of three widths around the default one."""
    step = max(1, len(vectors) // _SAMPLE)
    gamma = rounded(
        kernels.RBF(gamma="scale").fit(vectors.take(np.arange(0, len(vectors), step))).state.number("gamma")
    )
    if vectors.is_sparse:
        return [kernels.Linear(), kernels.normalise(kernels.Linear()), *(kernels.RBF(gamma=w * gamma) for w in _WIDTHS)]
    curve = kernels.Polynomial(degree=2, gamma=gamma, coef0=1.0)
    wide = [kernels.RBF(gamma=rounded(width * gamma)) for width in _WIDTHS]
    return [kernels.Linear(), *wide, curve, kernels.Laplacian(gamma=rounded(gamma**0.5 / 2))]


def on_strings(strings: Strings) -> list[Kernel]:
    """Words of prose, or substrings of several lengths; over small alphabets also with mismatches, or by position."""
    normal = kernels.normalise
    lengths = strings.lengths
    letters = alphabet_of(strings)
    found: list[Kernel]
    if is_prose(strings):
        words = [kernels.VectorSpace("smooth-tf-idf", ngrams=(1, longest)) for longest in (1, 2)]
        parts = kernels.VectorSpace("smooth-tf-idf", analyzer="char_wb", ngrams=(2, 4))
        found = [*map(normal, (*words, parts)), normal(kernels.Spectrum(p=4)), normal(kernels.BlendedSpectrum(p=5))]
    elif len(letters) > _SMALL_ALPHABET:
        found = [normal(kernels.Spectrum(p=3)), normal(kernels.Spectrum(p=4)), normal(kernels.BlendedSpectrum(p=5))]
        found.append(normal(kernels.Spectrum(p=2)))
    else:
        found = [normal(kernels.Spectrum(p=p)) for p in (3, 4, 6)]
        found.append(normal(kernels.Mismatch(letters, p=5, m=1, unknown="skip")))
        found.append(normal(kernels.BlendedSpectrum(p=6)))
    if len(lengths) > 1 and _SHORT < lengths.min() == lengths.max() <= _LONG:
        found.append(normal(kernels.WeightedDegree(degree=5)))
    return found


def is_prose(strings: Strings) -> bool:
    """Whether strings are words with spaces between them, several to a string."""
    if not strings.of_characters or not len(strings.symbols):
        return False
    spaces = np.isin(strings.symbols, [ord(mark) for mark in " \n\t"]).sum()
    return bool(spaces >= _SPACES * len(strings) and spaces >= _SPACED * len(strings.symbols))


def alphabet_of(strings: Strings) -> str:
    """The letters that occur; for DNA and RNA always the four, since other letters stand for any of them."""
    found, counts = np.unique(strings.symbols, return_counts=True)
    letters = {chr(int(code)): int(times) for code, times in zip(found, counts, strict=True)}
    for four in ("ACGT", "ACGU"):
        plain = sum(letters.get(letter, 0) for letter in four)
        if set(letters) <= set(four) | set(_AMBIGUOUS) and plain >= _PLAIN * strings.symbols.size:
            return four
    return "".join(sorted(letters))


def on_graphs(graphs: Graphs) -> list[Kernel]:
    """Histograms as a baseline, refined neighbourhoods, shortest paths, and best matchings."""
    normal = kernels.normalise
    wl: list[Kernel] = [normal(kernels.WeisfeilerLehman(h=h)) for h in (1, 3, 5)]
    first: list[Kernel] = [] if graphs.labels is None else [normal(kernels.VertexHistogram())]
    return [*first, *wl, normal(kernels.ShortestPath()), normal(kernels.WeisfeilerLehmanOptimalAssignment(h=3))]


def on_trees(trees: Any = None) -> list[Kernel]:
    """Whole subtrees, parts of them with two decays, and partial trees."""
    del trees
    return [
        kernels.normalise(kernels.Subtree()),
        *(kernels.normalise(kernels.SubsetTree(decay=d)) for d in (0.4, 0.7)),
        kernels.normalise(kernels.PartialTree()),
    ]


def on_table(table: Table, preparation: Preparation) -> list[Kernel]:
    """Each kind of column with its kernels, alone and together."""
    words = preparation.names(CATEGORY)
    if preparation.numbers and words and len(preparation.fills) + len(words) == len(preparation.columns):
        return _on_numbers_and_words(table, preparation, words)
    options = _by_columns(table, preparation)
    if len(options) == 1:
        return options[0]
    longest = max(map(len, options))
    sums = [_joined([own[min(place, len(own) - 1)] for own in options], operator.add) for place in range(longest)]
    singles = [own[min(1, len(own) - 1)] for own in options]
    products = [_joined(singles, operator.mul)] if len(options) == 2 else []
    return [*sums[:4], *products, *singles]


def _on_numbers_and_words(table: Table, preparation: Preparation, words: list[str]) -> list[Kernel]:
    """Sums of effects of columns, and Gaussians of several widths on all columns together.

    A Gaussian on numbers times one on categories is a Gaussian on the numbers and one-hot columns together.
    """
    same = kernels.on(words, kernels.Categorical())
    found: list[Kernel] = []
    for plain, names in ((True, preparation.numbers), (False, preparation.logarithms)):
        if not names:
            continue
        usual = 1.0 / (len(names) + len(words))

        def together(width: float, names: list[str] = names, usual: float = usual) -> Kernel:
            gamma = rounded(width * usual)
            differing = kernels.on(words, kernels.RBF(gamma=rounded(gamma * len(words)), over=kernels.Categorical()))
            return kernels.on(names, kernels.RBF(gamma=gamma)) * differing

        line = kernels.on(names, kernels.Linear())
        found += [line + same, *map(together, _WIDTHS if plain else _WIDTHS[:2])]
        if plain:
            rough = kernels.on(names, kernels.Laplacian(gamma=rounded(usual**0.5 / 2)))
            found += [kernels.on(names, kernels.RBF(gamma=rounded(1.0 / len(names)))) + same**3, rough * same**2]
    return [*found, same**3]


def _by_columns(table: Table, preparation: Preparation) -> list[list[Kernel]]:
    """Lists of kernels: one for all numbers, one for all categories, and one for each other column."""
    options: list[list[Kernel]] = []
    words = preparation.names(CATEGORY)
    if preparation.numbers:
        options.append(_on_features(table, preparation))
    if words:
        options.append([kernels.on(words, kernels.Categorical()), kernels.on(words, kernels.Categorical()) ** 3])
    strings = {name: on_strings(table.objects((name,), Strings)) for name in preparation.names(TEXT, SEQUENCE)}
    trees = {name: on_trees() for name in preparation.names(TREE)}
    options += [[kernels.on(name, kernel) for kernel in own] for name, own in (strings | trees).items()]
    return options + [_on_smiles(name) for name in preparation.names(SMILES)]


def _on_features(table: Table, preparation: Preparation) -> list[Kernel]:
    """Kernels on all numbers: as they are, with logarithms of skewed ones, and with indicators of missing ones."""
    numbers, logarithms, gaps = preparation.numbers, preparation.logarithms, preparation.gaps

    def on(names: list[str]) -> list[Kernel]:
        return [kernels.on(names, kernel) for kernel in on_numbers(table.objects(tuple(names), Vectors))]

    found = on(numbers)
    if logarithms:
        found += on(logarithms)[:3]
    if gaps:
        found += on([*(logarithms or numbers), *gaps])[:2]
    return found


def _joined(parts: list[Kernel], join: Callable[[Any, Any], Any]) -> Kernel:
    whole: Kernel = functools.reduce(join, parts)
    return whole


def _on_smiles(name: str) -> list[Kernel]:
    return [
        kernels.on(name, kernels.normalise(kernels.WeisfeilerLehman(h=2)), as_="smiles"),
        kernels.on(name, kernels.Tanimoto(), as_="morgan"),
        kernels.on(name, kernels.MinMax(), as_="morgan_counts"),
    ]


def on_columns(kernel: Kernel, preparation: Preparation) -> Kernel:
    """A kernel that a user named, applied to the columns of a table that it can read."""
    if preparation.kind != "table":
        wanted = _DOMAINS.get(preparation.kind)
        if wanted is not None and kernel.domain is not wanted:
            raise InputError(f"{kernel} compares {kernel.domain.kind}, but the file holds {wanted.kind}.")
        return kernel
    if kernel.domain is Table:
        return kernel
    together = {Vectors: preparation.numbers, Categories: preparation.names(CATEGORY)}.get(kernel.domain)
    if together:
        return kernels.on(together, kernel)
    single = {Strings: preparation.names(TEXT, SEQUENCE), Trees: preparation.names(TREE)}.get(kernel.domain, [])
    if kernel.domain is Strings and not single:
        single = preparation.names(CATEGORY)
    if len(single) == 1:
        return kernels.on(single[0], kernel)
    reading = {Graphs: "smiles", Vectors: "morgan"}.get(kernel.domain)
    if reading is not None and len(preparation.names(SMILES)) == 1:
        return kernels.on(preparation.names(SMILES)[0], kernel, as_=reading)
    names = ", ".join(f"{name} ({kind})" for name, kind in preparation.columns[:20])
    raise InputError(
        f"{kernel} compares {kernel.domain.kind}, and it is not clear which column holds them. Name it with "
        f"on('column', ...). Columns: {names}."
    )


_WIDTH_OF_EACH = re.compile(r"gamma=\((?:[^(),]+, ){2,}[^(),]+\)")
_ONE_CATEGORY = r"on\((?:'[^']*'|\"[^\"]*\"), rbf\(gamma=[^(),]+, over=categorical\(\)\)\)"
_CATEGORIES_OF_EACH = re.compile(rf"{_ONE_CATEGORY}(?:\*{_ONE_CATEGORY}){{2,}}")
_EACH = "rbf(gamma=one of each, over=categorical())"
"""The short form of many widths of columns."""


def short_text(kernel: Kernel | str, preparation: Preparation) -> str:
    """The text of a kernel, with long lists of columns replaced by their number."""
    text = str(kernel)
    numbers, logarithms, gaps = preparation.numbers, preparation.logarithms, preparation.gaps
    shown = [(preparation.names(CATEGORY), "categories"), (logarithms, "numbers with logarithms"), (numbers, "numbers")]
    if gaps:
        shown += [([*logarithms, *gaps], "numbers with logarithms and gaps"), ([*numbers, *gaps], "numbers and gaps")]
    for names, what in shown:
        if len(names) > 2:
            text = text.replace(repr(names), f"{len(names)} {what}")
    text = _WIDTH_OF_EACH.sub("gamma=one of each", text)
    return _CATEGORIES_OF_EACH.sub(lambda found: f"on({found[0].count('over=')} categories, {_EACH})", text)
