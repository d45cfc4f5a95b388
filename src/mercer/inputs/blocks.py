"""The contract of data read block by block: more objects than fit in memory, with their targets and weights.

`Blocks` are a finite sequence of blocks that are read by number, as often as needed and in any order. Three promises
make results the same, bit for bit, on threads, other processes and other machines, and after an interrupted run is
resumed:

- The **plan**, which is the number of objects in each block, is fixed when the source is created. It never depends on
  threads, workers or memory.
- `read(number)` gives the same objects each time, wherever it is called. A source is therefore pickled as what is
  needed to read it again (paths, not data) and keeps no place in a file.
- Sums over blocks follow a fixed binary tree of their numbers, by `reduce(task, items, combine)` of the executor: see
  `Reducer`.

Arrays with one number per object (targets, weights, outputs, coefficients) may be in memory; the objects themselves are
never all in memory. A kernel turns blocks into `mercer.inputs.streamed.Streamed`, the objects of its own kind, which
learners treat like any others.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, final

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer._cached import cached_property
from mercer._types import Float64, Indices
from mercer.errors import InputError

Item = TypeVar("Item")
Result = TypeVar("Result")

ROWS = 65_536
"""Default number of objects per block: a few megabytes of vectors, a few seconds of work. Fewer blocks could not be
shared evenly, more would take longer to distribute."""


class Reducer(Protocol):
    """An executor for blocks: the threads of this machine (`mercer.gram.executors.Threads`), or workers on others."""

    def reduce(
        self, task: Callable[[Item], Result], items: Sequence[Item], combine: Callable[[Result, Result], Result]
    ) -> Result:
        """Combine the results of a task for each item over a fixed binary tree of their positions.

        Positions 2k and 2k + 1 are combined, then their results in the same way; one without a neighbour moves up
        unchanged. Tasks, items and results over `Blocks` can be pickled. The first argument of `combine` may be changed
        in place.
        """
        ...


@final
@dataclass(frozen=True, eq=False)
class Block:
    """Objects in a form that kernels accept (an array, CSR, a list, a table), with or without targets and weights."""

    objects: Any
    y: npt.NDArray[Any] | None = None
    weights: Float64 | None = None


class Blocks(ABC):
    """A finite sequence of blocks: ``len(blocks)`` of them, ``blocks[3]`` reads one, iterating reads all in order."""

    executor: Reducer | None = None
    """The executor for the blocks; None for the threads of this machine."""

    @property
    @abstractmethod
    def sizes(self) -> tuple[int, ...]:
        """The number of objects in each block, at least one: the plan, known before anything is read."""

    @abstractmethod
    def read(self, number: int) -> Block:
        """One block. Called from several threads at once."""

    @property
    @abstractmethod
    def digest(self) -> str:
        """A digest of the content (objects, targets, weights and plan), by which checkpoints are identified."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the columns of vectors, if known."""
        return None

    def underlying(self, number: int) -> tuple[Blocks, int]:
        """The source that a block is finally read from, and its number there."""
        return self, number

    def __len__(self) -> int:
        return len(self.sizes)

    def __getitem__(self, number: int) -> Block:
        return self.read(range(len(self))[number])

    def __iter__(self) -> Iterator[Block]:
        return (self.read(number) for number in range(len(self)))

    @cached_property
    def edges(self) -> Indices:
        """Block i contains the objects from ``edges[i]`` to ``edges[i + 1]``."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @property
    def n_objects(self) -> int:
        """The number of objects in all blocks."""
        return int(self.edges[-1])

    @cached_property
    def y(self) -> npt.NDArray[Any] | None:
        """The targets of all objects; None if there are none. Reads every block, unless the source overrides it."""
        return self._all([block.y for block in self], "targets")

    @cached_property
    def weights(self) -> Float64 | None:
        """The weights of all objects; None if there are none."""
        return self._all([block.weights for block in self], "weights")

    def _all(self, parts: list[Any], what: str) -> npt.NDArray[Any] | None:
        missing = [number for number, part in enumerate(parts) if part is None]
        if len(missing) == len(parts):
            return None
        if missing:
            raise InputError(f"Block {missing[0]} has no {what}, and others have. Give all blocks {what}, or none.")
        for number, (part, size) in enumerate(zip(parts, self.sizes, strict=True)):
            if len(part) != size:
                raise InputError(f"Block {number} has {size:,} objects, and {len(part):,} {what}.")
        return np.concatenate(parts)

    def __getstate__(self) -> dict[str, Any]:
        made = ("y", "weights", "edges", "executor")  # read again where needed; the executor is not sent
        return {name: value for name, value in self.__dict__.items() if name not in made}


@final
class ArrayBlocks(Blocks):
    """Arrays in memory, CSR, lists or tables that kernels accept, split into blocks.

    >>> import numpy as np
    >>> from mercer.inputs.blocks import ArrayBlocks
    >>> blocks = ArrayBlocks(np.arange(10.0)[:, None], np.arange(10), rows=4)
    >>> blocks.sizes, blocks[2].y.tolist()
    ((4, 4, 2), [8, 9])
    """

    def __init__(self, X: Any, y: Any = None, weights: Any = None, *, rows: int = ROWS) -> None:
        self._X = X
        self._y = None if y is None else np.asarray(y)
        self._weights = None if weights is None else np.asarray(weights, dtype=np.float64)
        n = count_of(X)
        self._sizes = planned(n, rows)
        for what, values in (("targets", self._y), ("weights", self._weights)):
            if values is not None and len(values) != n:
                raise InputError(f"There are {n:,} objects, and {len(values):,} {what}.")

    @property
    def sizes(self) -> tuple[int, ...]:
        return self._sizes

    def read(self, number: int) -> Block:
        part = slice(int(self.edges[number]), int(self.edges[number + 1]))
        y, weights = (None if values is None else values[part] for values in (self._y, self._weights))
        return Block(_between(self._X, part), y, weights)

    @cached_property
    def y(self) -> npt.NDArray[Any] | None:
        return self._y

    @cached_property
    def weights(self) -> Float64 | None:
        return self._weights

    @cached_property
    def digest(self) -> str:
        digest = hashlib.sha256(str(self._sizes).encode())
        for block in self:
            for part in (block.objects, block.y, block.weights):
                digest.update(content_of(part))
        return digest.hexdigest()


@final
class PartOfBlocks(Blocks):
    """Some of the objects of each block: those held out for testing, or all the others.

    The choice depends only on the number of the block and the seed. Empty blocks are left out.
    """

    def __init__(self, blocks: Blocks, share: float, seed: int, *, rest: bool) -> None:
        self._blocks, self._share, self._seed, self._rest = blocks, share, seed, rest
        self.executor = blocks.executor
        self._places = [self._chosen(number) for number in range(len(blocks))]
        self._numbers = [number for number, places in enumerate(self._places) if len(places)]
        if not self._numbers:
            raise InputError(f"A fraction of {share:g} of these blocks is less than one object.")

    def _chosen(self, number: int) -> Indices:
        """Positions within a block, in order."""
        drawn = np.random.default_rng((self._seed, number)).random(self._blocks.sizes[number]) < self._share
        return np.flatnonzero(drawn != self._rest)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(self._places[number]) for number in self._numbers)

    @property
    def names(self) -> tuple[str, ...] | None:
        return self._blocks.names

    def underlying(self, number: int) -> tuple[Blocks, int]:
        return self._blocks.underlying(self._numbers[number])

    def read(self, number: int) -> Block:
        own = self._numbers[number]
        block, places = self._blocks.read(own), self._places[own]
        y, weights = (None if values is None else values[places] for values in (block.y, block.weights))
        return Block(some_of(block.objects, places), y, weights)

    @cached_property
    def y(self) -> npt.NDArray[Any] | None:
        return self._of_all(self._blocks.y)

    @cached_property
    def weights(self) -> Float64 | None:
        return self._of_all(self._blocks.weights)

    def _of_all(self, values: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
        edges = self._blocks.edges
        kept = [edges[number] + places for number, places in enumerate(self._places)]
        return None if values is None else values[np.concatenate(kept)]

    @property
    def digest(self) -> str:
        told = f"{self._blocks.digest} {self._share!r} {self._seed} {self._rest}"
        return hashlib.sha256(told.encode()).hexdigest()


def split(blocks: Blocks, held_out: float = 0.1, seed: int = 0) -> tuple[Blocks, Blocks]:
    """Blocks to train on and blocks to test on: of each block, a random part of its objects is held out.

    >>> import numpy as np
    >>> from mercer.inputs.blocks import ArrayBlocks, split
    >>> training, test = split(ArrayBlocks(np.zeros((1000, 2)), rows=300), held_out=0.2)
    >>> training.n_objects + test.n_objects, len(training)
    (1000, 4)
    """
    share = _check.real("split", "held_out", held_out, low=0, low_open=True, high=1, high_open=True)
    seed = _check.integer("split", "seed", seed, low=0)
    return PartOfBlocks(blocks, share, seed, rest=True), PartOfBlocks(blocks, share, seed, rest=False)


def count_of(objects: Any) -> int:
    """The number of objects in a block."""
    if isinstance(objects, Mapping):
        return len(next(iter(objects.values()), ()))
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def _between(objects: Any, part: slice) -> Any:
    if hasattr(objects, "to_arrays"):
        return objects.take(part)
    if isinstance(objects, Mapping):
        return {name: values[part] for name, values in objects.items()}
    return objects[part]


def some_of(objects: Any, places: Indices) -> Any:
    """The objects at these positions of a block, whatever its type."""
    if hasattr(objects, "to_arrays"):
        return objects.take(places)
    if isinstance(objects, Mapping):
        return {name: some_of(values, places) for name, values in objects.items()}
    if hasattr(objects, "iloc"):
        return objects.iloc[places]
    return objects[places] if hasattr(objects, "shape") else [objects[int(place)] for place in places]


def planned(n: int, rows: int = ROWS) -> tuple[int, ...]:
    """The sizes of blocks of `rows` objects; the last has the remainder."""
    rows = _check.integer("blocks", "rows", rows, low=1)
    if n < 1:
        raise InputError("Found 0 objects while a minimum of 1 is required.")
    return (rows,) * (n // rows) + ((n % rows,) if n % rows else ())


def content_digest(part: Any) -> str:
    """A short digest of the content of a part of a block."""
    return hashlib.sha256(content_of(part)).hexdigest()


def content_of(part: Any) -> bytes:
    """The input of a digest: the type, the shape and the numbers of an array; the items of anything else."""
    if part is None:
        return b"none"
    if hasattr(part, "to_arrays"):
        return b"".join(name.encode() + content_of(array) for name, array in part.to_arrays().items())
    if hasattr(part, "indptr"):
        return b"".join(map(content_of, (part.data, part.indices, part.indptr)))
    if isinstance(part, np.ndarray) and part.dtype.kind != "O":
        return f"{part.dtype}{part.shape}".encode() + np.ascontiguousarray(part).tobytes()
    if isinstance(part, dict):
        return b"".join(str(name).encode() + content_of(values) for name, values in part.items())
    return repr(list(part)).encode()
