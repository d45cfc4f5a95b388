"""Sample objects of every kind, to try kernels on.

One function per kind, found by its class. To teach the suites a new kind, add its function to `SAMPLES`: it takes the
kernel (whose parameters may name columns, for example) and a random generator, and returns samples by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from mercer._types import Index
from mercer.errors import InputError
from mercer.inputs.bags import Bags
from mercer.inputs.base import Objects
from mercer.inputs.categories import Categories
from mercer.inputs.gram_rows import GramRows
from mercer.inputs.graphs import Graphs
from mercer.inputs.items import Items
from mercer.inputs.nodes import Nodes
from mercer.inputs.series import Series
from mercer.inputs.sets import Sets
from mercer.inputs.strings import Strings
from mercer.inputs.tables import Table
from mercer.inputs.trees import Trees
from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel
from mercer.kernels.documents.vector_space import VectorSpace
from mercer.kernels.generative.hidden_states import Marginal
from mercer.kernels.graphs.nodes import NodeKernel
from mercer.testing.checks import Check

Sampler = Callable[[Kernel, np.random.Generator], Mapping[str, Objects]]

COUNT = 23
"""Objects in a sample: enough for slices to differ, few enough for slow kernels. Odd, to make halves unequal."""


def objects_for(kernel: Kernel, random_state: int = 0) -> dict[str, Objects]:
    """The samples that a kernel accepts, by name; those that it refuses with a message are left out.

    >>> from mercer import kernels
    >>> from mercer.testing import objects_for
    >>> sorted(objects_for(kernels.Spectrum(2)))
    ['letters', 'ragged', 'tokens']
    """
    accepted: dict[str, Objects] = {}
    refusals = []
    tried = _samples(kernel, random_state)  # a second set: the returned ones stay untouched
    for name, objects in _samples(kernel, random_state).items():
        try:
            Check(name, partial(_try, kernel, tried[name]))()
        except InputError as error:
            refusals.append(f"{name}: {error}")
        else:
            accepted[name] = objects
    if not accepted:
        raise LookupError(f"{kernel} accepts none of the samples of its kind:\n" + "\n".join(refusals))
    return accepted


def as_new(objects: Objects, index: Index) -> Objects:
    """The objects at these positions as they would come after training."""
    if isinstance(objects, GramRows):
        own = None if objects.self_similarity is None else objects.self_similarity[index]
        return GramRows(objects.matrix, objects.index[index], training=False, self_similarity=own)
    return objects.take(index)


def _try(kernel: Kernel, objects: Objects) -> None:
    kernel.fit(objects).features(objects)


def _samples(kernel: Kernel, random_state: int) -> Mapping[str, Objects]:
    kind = kernel.domain
    if kind not in SAMPLES:
        raise LookupError(
            f"There are no sample {kind.kind} to try {kernel} on. Add a function for {kind.__name__} to "
            "mercer.testing.samples.SAMPLES, or pass objects of your own."
        )
    return SAMPLES[kind](kernel, np.random.default_rng(random_state))


def vectors(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Signed, non-negative, sparse and single-precision rows, each with a repeated and an all-zero one."""
    dense = _with_oddities(random.normal(size=(COUNT, 4)))
    counts = _with_oddities(random.poisson(1.5, size=(COUNT, 6)).astype(np.float64))
    return {
        "dense": Vectors.coerce(dense),
        "float32": Vectors.coerce(dense.astype(np.float32)),
        "counts": Vectors.coerce(counts),
        "sparse": Vectors.coerce(sp.csr_array(counts)),
        "binary": Vectors.coerce((counts > 1).astype(np.float64)),
    }


def strings(kernel: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Words over four letters; and a ragged batch with empty, short, repeated and non-Latin ones."""
    if any(isinstance(part, VectorSpace) for part in _parts(kernel)):
        return documents(random)
    if any(isinstance(part, Marginal) for part in _parts(kernel)):
        return {"aligned": Strings.coerce(["".join(random.choice(list("ACGT"), size=12)) for _ in range(COUNT)])}
    words = ["".join(random.choice(list("ACGT"), size=size)) for size in random.integers(8, 25, size=COUNT)]
    words[-1] = words[0]
    odd = ["", "A", "", "AB", "naïve", "nai\u0308ve", "\U0001f600\U0001f601\U0001f600", "A\x00B", "\ud800x", "banana"]
    ragged = odd + words[: COUNT - len(odd)]
    ragged[-1] = "banana"
    tokens = [[f"word{number}" for number in random.integers(5, size=size)] for size in random.integers(0, 9, COUNT)]
    return {"letters": Strings.coerce(words), "ragged": Strings.coerce(ragged), "tokens": Strings.coerce(tokens)}


def documents(random: np.random.Generator) -> dict[str, Objects]:
    """Texts of a few words, one of them empty and one repeated; and documents that are lists of tokens."""
    words = ["cat", "dog", "mat", "sat", "Cat", "naïve", "the", "\U0001f600\U0001f601", "on"]
    chosen = [random.choice(words, size=size).tolist() for size in random.integers(3, 12, size=COUNT)]
    chosen[-1], chosen[3] = chosen[0], []
    return {"texts": Strings.coerce([" ".join(one) for one in chosen]), "tokens": Strings.coerce(chosen)}


def sets(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Multisets of small numbers, with an empty and a repeated one."""
    items = [random.integers(0, 10, size=size).tolist() for size in random.integers(1, 12, size=COUNT)]
    items[1], items[-1] = [], items[0]
    return {"multisets": Sets.coerce(items), "binary": Sets.coerce(random.integers(0, 2, size=(COUNT, 8)))}


def bags(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Bags of vectors, with a repeated one."""
    rows = [random.normal(size=(size, 3)) for size in random.integers(1, 6, size=COUNT)]
    rows[-1] = rows[0]
    return {"vectors": Bags.coerce(rows)}


def categories(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Text, whole numbers and truth values, few of each, with a repeated row."""
    rows = [list(row) for row in zip(*(_categories(random, number) for number in range(3)), strict=True)]
    rows[-1] = rows[0]
    return {"mixed": Categories.coerce(rows)}


def items(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Short arrays: nothing is known about what a user's function understands."""
    return {"arrays": Items.coerce(list(random.normal(size=(COUNT, 3))))}


def gram_rows(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """A Gram matrix of random vectors."""
    rows = random.normal(size=(COUNT, 5))
    return {"products": GramRows.coerce(rows @ rows.T)}


def tables(kernel: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """A table with the columns that the kernel asks for, filled from the samples of their kinds."""
    columns: dict[str, Any] = {}
    for part in kernel.on_columns:
        if issubclass(part.kernel.domain, Vectors):
            columns.update({name: random.normal(size=COUNT) for name in part.columns})
            continue
        if issubclass(part.kernel.domain, Categories):
            columns.update({name: _categories(random, number) for number, name in enumerate(part.columns)})
            continue
        sample = next(iter(objects_for(part.kernel, int(random.integers(2**31))).values()))
        columns[part.columns[0]] = _as_column(sample)
    return {"table": Table.coerce(columns)}


def graphs(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Small graphs with labels, with weights, and directed; an empty one, isolated nodes, a repeated one."""
    labelled, weighted, directed = [], [], []
    for size in [0, 1, 3, *random.integers(2, 9, size=COUNT - 4)]:
        edges = np.argwhere(np.triu(random.random((size, size)) < 0.4))
        labels = random.choice(list("abc"), size=size).tolist()
        ties = random.integers(0, 2, size=len(edges))
        labelled.append({"nodes": int(size), "edges": edges, "labels": labels, "edge_labels": ties})
        weighted.append({"nodes": int(size), "edges": edges, "weights": 0.5 * random.integers(1, 4, size=len(edges))})
        directed.append({"nodes": int(size), "edges": edges, "labels": labels, "directed": True})
    batches = {"labelled": labelled, "weighted": weighted, "directed": directed}
    return {name: Graphs.coerce([*batch, batch[-1]]) for name, batch in batches.items()}


def nodes(kernel: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Nodes of the graph that the kernel knows, some of them more than once."""
    known = next(part for part in _parts(kernel) if isinstance(part, NodeKernel))
    return {"nodes": Nodes.coerce(random.integers(len(known.graph), size=COUNT))}


def trees(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Trees of up to a dozen nodes, grown at random; a single node, a chain, a repeated one."""
    batch = ["(a)", "(a (a (a (b (a)))))"]
    while len(batch) < COUNT - 1:
        below: list[list[int]] = [[]]
        for node in range(1, int(random.integers(2, 13))):
            below[int(random.integers(len(below)))].append(node)
            below.append([])
        names = random.choice(list("abc"), size=len(below))
        text = [""] * len(below)
        for node in range(len(below) - 1, -1, -1):  # children have larger numbers
            text[node] = f"({names[node]}{''.join(text[child] for child in below[node])})"
        batch.append(text[0])
    return {"trees": Trees.coerce([*batch, batch[-1]])}


def series(_: Kernel, random: np.random.Generator) -> dict[str, Objects]:
    """Random walks with two channels and different lengths, one of a single moment and one repeated."""
    batch = [random.normal(size=(size, 2)).cumsum(axis=0) for size in [1, *random.integers(2, 12, size=COUNT - 2)]]
    plain = random.normal(size=(COUNT, 7)).cumsum(axis=1)
    return {"channels": Series.coerce([*batch, batch[1]]), "numbers": Series.coerce(plain)}


def _parts(kernel: Kernel) -> Iterator[Kernel]:
    yield kernel
    for part in kernel.children:
        yield from _parts(part)


SAMPLES: dict[type[Objects], Sampler] = {
    Vectors: vectors,
    Strings: strings,
    Sets: sets,
    Bags: bags,
    Categories: categories,
    Graphs: graphs,
    Nodes: nodes,
    Trees: trees,
    Series: series,
    Items: items,
    GramRows: gram_rows,
    Table: tables,
}


def _categories(random: np.random.Generator, number: int) -> list[Any]:
    choices: list[list[Any]] = [["red", "green", "blue"], [1, 2, 3], [True, False]]
    values = choices[number % len(choices)]
    return [values[place] for place in random.integers(len(values), size=COUNT)]


def _with_oddities(rows: Any) -> Any:
    rows[1] = 0.0
    rows[-1] = rows[0]
    return rows


def _as_column(objects: Objects) -> Any:
    if isinstance(objects, Strings):
        return objects.tolist()
    if isinstance(objects, Items):
        return list(objects.items)
    if isinstance(objects, Series):
        return np.split(objects.values, objects.offsets[1:-1])
    raise LookupError(f"There are no sample columns that hold {objects.kind}; pass a table of your own.")
