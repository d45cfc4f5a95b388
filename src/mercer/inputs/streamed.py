"""Objects of one kind that are read from blocks whenever they are needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from mercer import _registry
from mercer._cached import cached_property
from mercer._types import Float64, Index, Indices
from mercer.errors import InputError, InputTypeError, ModelFileError
from mercer.inputs.base import Arrays, Objects
from mercer.inputs.blocks import Block, Blocks, Reducer

KNOWN = 40_000
"""Size of the sample to which kernels are fitted: twenty objects for each of 2,000 landmarks ..."""
_KNOWN_BYTES = 2**28
"""... but no more than fit in a quarter of a gigabyte ..."""
_FEWEST_KNOWN = 1000
"""... and at least this many, however large they are: fewer would not represent the rest."""


@final
@dataclass(frozen=True, eq=False)
class Wanted:
    """Some objects of a block: the number of the block, and their positions in it."""

    number: int
    places: Index


@final
class Streamed(Objects):
    """The objects of `Blocks` as objects of one kind: what `Kernel.coerce` returns for blocks.

    They have a length, and `take` reads the requested ones. Each thread keeps the block that it read last, so reading a
    block in pieces reads it only once.
    """

    kind = "objects in blocks"

    def __init__(self, blocks: Blocks, domain: type[Objects]) -> None:
        self.blocks, self.domain = blocks, domain
        self._last = threading.local()

    def __len__(self) -> int:
        return self.blocks.n_objects

    def __getstate__(self) -> tuple[Blocks, type[Objects]]:
        return self.blocks, self.domain

    def __setstate__(self, state: tuple[Blocks, type[Objects]]) -> None:
        self.__init__(*state)

    @classmethod
    def coerce(cls, raw: Any, *, new: bool = False) -> Self:
        del new
        if isinstance(raw, cls):
            return raw
        raise InputTypeError(f"Expected objects in blocks, got {type(raw).__name__}.")

    @property
    def executor(self) -> Reducer | None:
        """The executor for the blocks; None for the threads of this machine."""
        return self.blocks.executor

    @property
    def edges(self) -> Indices:
        """Where blocks begin and end, which fixes the order of all sums over objects."""
        return self.blocks.edges

    @property
    def y(self) -> npt.NDArray[Any] | None:
        return self.blocks.y

    @property
    def weights(self) -> Float64 | None:
        return self.blocks.weights

    @property
    def nbytes(self) -> int:
        """The approximate number of bytes that the objects would take in memory."""
        some = self.take(slice(0, min(len(self), _FEWEST_KNOWN)))
        return int(some.nbytes / len(some) * len(self))

    def block(self, number: int) -> Objects:
        """All objects of one block, parsed and validated."""
        if getattr(self._last, "number", None) != number:
            self._last.objects = self._parsed(number, self.blocks.read(number))
            self._last.number = number
        found: Objects = self._last.objects
        return found

    def _parsed(self, number: int, block: Block) -> Objects:
        first, size = int(self.edges[number]), self.blocks.sizes[number]
        where = f"In block {number}, which begins with object {first}: "
        try:
            found = self.domain.coerce(block.objects)
        except InputError as error:
            raise type(error)(f"{where}{error}") from error
        if len(found) != size:
            raise InputError(
                f"{where}there are {len(found):,} objects, and {size:,} were announced. Was the source changed while "
                "it was read?"
            )
        return found

    def take(self, index: Index) -> Any:
        """The objects at these positions, read into memory from all blocks that contain them."""
        if isinstance(index, slice) and index.step in (None, 1):
            start, stop, _ = index.indices(len(self))
            return self._stretch(start, max(start, stop))
        places = np.arange(len(self))[index] if isinstance(index, slice) else np.asarray(index, dtype=np.intp)
        if not len(places):
            return self.block(0).take(slice(0, 0))
        order = np.argsort(places, kind="stable")
        ends = np.searchsorted(places[order], self.edges)
        found = self._joined(
            [
                Wanted(number, places[order[ends[number] : ends[number + 1]]] - self.edges[number])
                for number in range(len(self.blocks))
                if ends[number] < ends[number + 1]
            ]
        )
        if (np.diff(order) > 0).all():
            return found
        back = np.empty(len(order), dtype=np.intp)
        back[order] = np.arange(len(order))
        return found.take(back)

    def _stretch(self, start: int, stop: int) -> Objects:
        first = int(np.searchsorted(self.edges, start, side="right")) - 1
        last = max(first, int(np.searchsorted(self.edges, stop)) - 1)
        if first >= len(self.blocks):
            return self.block(0).take(slice(0, 0))
        wanted = []
        for number in range(first, last + 1):
            begin = int(self.edges[number])
            wanted.append(Wanted(number, slice(max(start - begin, 0), max(stop - begin, 0))))
        return self._joined(wanted)

    def picked(self, wanted: Wanted) -> Objects:
        """Some objects of one block."""
        found: Objects = self.block(wanted.number).take(wanted.places)
        return found

    def _joined(self, wanted: Sequence[Wanted]) -> Objects:
        """Some objects of several blocks; from other machines, only these are fetched."""
        gather = getattr(self.executor, "gather", None)
        parts = [self.picked(one) for one in wanted] if gather is None else gather(self.picked, wanted)
        return parts[0] if len(parts) == 1 else self.domain.joined(parts)

    def known(self) -> Any:
        """A sample for kernels, scales and warnings: the same for the same objects, whatever the plan."""
        return self._known

    def first_known(self, most: int) -> Any:
        """The first objects of the sample, without reading the others."""
        if "_known" in vars(self) or len(self.known_places) <= most:
            return self._known.take(slice(0, most))
        return self.take(self.known_places[:most])

    @cached_property
    def known_places(self) -> Indices:
        """The positions of the objects in the sample."""
        n = len(self)
        each = self.nbytes / n
        size = min(n, max(_FEWEST_KNOWN, min(KNOWN, int(_KNOWN_BYTES / max(each, 1.0)))))
        return np.arange(n) if size == n else np.sort(np.random.default_rng(0).choice(n, size=size, replace=False))

    @cached_property
    def _known(self) -> Objects:
        n = len(self)
        found: Objects = self._stretch(0, n) if len(self.known_places) == n else self.take(self.known_places)
        return found

    def to_arrays(self) -> Arrays:
        raise ModelFileError("Objects that are read from blocks stay where they are: no model file can hold them.")


Blockwise = Blocks | Streamed
"""Types that are read block by block, besides data of Dask."""


def streamed(raw: Any, domain: type[Objects]) -> Streamed:
    """Blocks, or lazy data, as objects of a kind, parsed when they are read."""
    blocks = _registry.LAZY.load()(raw) if _registry.is_lazy(raw) else raw
    return Streamed(blocks, domain) if isinstance(blocks, Blocks) else blocks
