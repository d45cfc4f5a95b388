"""Ordered trees with labels, all nodes of a data set in one block of arrays."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from mercer._types import Index, Int32, Int64
from mercer.inputs.base import Arrays, misfit, stored
from mercer.inputs.ragged import RaggedObjects, fit_together, take_rows


class Trees(RaggedObjects):
    """A batch of rooted trees whose children are in order; every node has a label.

    An item of the list may be bracketed text, ``"(S (NP (D the) (N dog)) (VP barks))"``; nested tuples, ``("NP", ("D",
    "the"), ("N", "dog"))``, where the children may also be one list, ``("NP", [...])``; or an object like nltk's Tree,
    with a method ``label()`` and children to iterate over. A string inside a tuple is a leaf. Labels are strings or
    whole numbers; where a bracket or tuple has none, as in ``((), ())``, the label is the empty string. A tree has at
    least a root. Depth is not limited.

    >>> from mercer.inputs.trees import Trees
    >>> trees = Trees.coerce(["(NP (D the) (N dog))", ("NP", ("D", "a"), "dog")])
    >>> trees.arities.tolist(), trees.offsets.tolist()
    ([0, 1, 0, 1, 2, 0, 1, 0, 2], [0, 5, 9])
    """

    kind: ClassVar[str] = "trees"

    def __init__(self, offsets: Int64, labels: Int64, arities: Int32) -> None:
        self.offsets = offsets
        """The nodes of tree i are ``offsets[i]:offsets[i + 1]``, each after its children; the root comes last."""
        self.labels = labels
        """Whole numbers are themselves, strings a hash of their content."""
        self.arities = arities
        """How many children each node has. With the order of the nodes, this is the whole tree."""

    @classmethod
    def parse(cls, raw: Any) -> Self:
        from mercer.inputs.tree_parsing import parsed

        return cls(*parsed(raw))

    sizes = RaggedObjects.lengths

    def take(self, index: Index) -> Self:
        labels, arities, offsets = take_rows(index, self.offsets, self.labels, self.arities)
        return type(self)(offsets, labels, arities)

    def to_arrays(self) -> Arrays:
        return {"offsets": self.offsets, "labels": self.labels, "arities": self.arities}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Self:
        offsets, labels, arities = stored(arrays, cls.kind, "offsets", "labels", "arities")
        if not (labels.dtype.kind == arities.dtype.kind == "i" and fit_together(offsets, labels, arities)):
            raise misfit(cls.kind, "offsets, labels and arities disagree")
        # Reading a tree puts its nodes on a pile: each takes its children off and leaves itself.
        pile = np.concatenate([[0], np.cumsum(1 - arities.astype(np.int64))])
        height = pile[1:] - np.repeat(pile[offsets[:-1]], np.diff(offsets))
        whole = bool((np.diff(offsets) > 0).all()) and bool((height[offsets[1:] - 1] == 1).all())
        if not whole or (arities < 0).any() or (height < 1).any():
            raise misfit(cls.kind, "their arities do not make trees")
        return cls(offsets.astype(np.int64), labels.astype(np.int64), arities.astype(np.int32))
