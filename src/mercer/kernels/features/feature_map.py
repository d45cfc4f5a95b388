"""Explicit features of a kernel: phi with k(x, z) = <phi(x), phi(z)>, as rows of numbers.

`Kernel.feature_map` returns a `FeatureMap` or None. There are two kinds of columns. Some kernels have the same columns
for any objects (`FixedColumns`: dot products, monomials, random waves, embeddings). Kernels that count name their
features by hashes (`mercer.kernels.features.counting`): names become columns in the order in which they are first seen
in training, and other features of new objects have no column, but count in their lengths.

Composite kernels use the maps of their parts: sums put features side by side, multiples and cosines rescale them,
kernels on images of objects take those of the images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from mercer._types import DType, Float64, UInt64
from mercer.errors import KernelError
from mercer.inputs.base import Objects
from mercer.inputs.vectors import squared_lengths
from mercer.kernels.features.counts import CountFeatures, renamed
from mercer.kernels.features.occurrences import Shares, Spelling, Weigh
from mercer.kernels.features.rows import rows_times, side_by_side
from mercer.kernels.features.vocabulary import Vocabulary

if TYPE_CHECKING:
    from mercer.kernels.base import FittedKernel

Columns = Sequence[Any] | None
"""The user's names of the columns of vectors, if known."""
Stretch = Callable[[Float64], Float64]
"""A function from the squared lengths of feature vectors to factors on them."""
Condensed = tuple["FittedKernel", Objects, Float64]
"""A kernel, objects, and their coefficients."""


class FeatureMap:
    """The explicit features of a fitted kernel.

    Maps with fixed columns define `plain_rows` and `plain_names`; maps that count define `counts` and `spelling`.
    """

    @property
    def counted(self) -> bool:
        """Whether all features are named by hashes; sums of such maps have one vocabulary."""
        return False

    @property
    def vocabularies(self) -> int:
        """How many of its parts have columns that grow while training objects are read."""
        return int(self.counted)

    @property
    def in_blocks(self) -> bool:
        """Whether its rows are dense and computed from objects, so many rows are best computed in blocks."""
        return False

    @property
    def triangle(self) -> Float64 | None:
        """T, if rows are T^-1 times those of `unfolded`, with which products are cheaper."""
        return None

    def unfolded(self, objects: Any) -> Any:
        """The rows before multiplication by T^-1, in float32, for maps with a `triangle`."""
        raise NotImplementedError

    def rows(
        self, objects: Any, words: Iterator[Vocabulary], dtype: DType, *, grow: bool = False
    ) -> tuple[Any, Float64]:
        """phi of each object, dense or CSR, and its squared length, which includes features without a column.

        Each part that counts uses the next vocabulary of `words`, and with `grow` adds new features to it.
        """
        if not self.counted:
            return self.plain_rows(objects, words, dtype, grow)
        found = self.counts(objects)
        return found.over(next(words), dtype, grow=grow), found.squared_lengths

    def names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns = None) -> Sequence[Any]:
        """The names of the columns. Counted features that these objects have are spelt out; the others are shown as
        hexadecimal numbers.
        """
        if not self.counted:
            return self.plain_names(objects, words, columns)
        return _spelt(next(words).names, self.spelling(objects))

    def columns_at_least(self, objects: Any) -> int:
        """A lower bound on the number of columns, known without computing any: for monomials."""
        del objects
        return 0

    def shares(self, one: Any, weigh: Weigh) -> Shares | None:
        """What each part of a single object adds to a decision, if features have positions in objects."""
        del one, weigh
        return None

    @property
    def approximates(self) -> FittedKernel | None:
        """The kernel of whose features these are a projection, if they are one."""
        return None

    def condensed(self, weights: Float64) -> Condensed | None:
        """The function <weights, phi(.)> as an expansion of another kernel over few objects, if there is one."""
        del weights
        return None

    def counts(self, objects: Any) -> CountFeatures:
        """The names and values of the features of each object, for maps that count."""
        raise NotImplementedError

    def spelling(self, objects: Any) -> Iterator[Spelling]:
        """Readable names of the features of these objects, for maps that count."""
        raise NotImplementedError

    def plain_rows(self, objects: Any, words: Iterator[Vocabulary], dtype: DType, grow: bool) -> tuple[Any, Float64]:
        """`rows` for maps that do not count, or only in part."""
        raise NotImplementedError

    def plain_names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns) -> Sequence[Any]:
        """`names` for the same maps."""
        raise NotImplementedError


@final
@dataclass(frozen=True, eq=False)
class FixedColumns(FeatureMap):
    """Features with the same columns for any objects: a function from a batch to an array or CSR matrix.

    `called` has the names of the columns, or is a function of one object and the user's names of its columns; without
    it, columns are numbered. `number` gives their number without computing them.
    """

    written: Callable[[Any], Any]
    called: Callable[[Any, Columns], Sequence[Any]] | Sequence[Any] | None = None
    number: Callable[[Any], int] | None = None
    sampled: bool = False
    """Whether they are dense and computed from objects, such as random features."""

    @property
    def in_blocks(self) -> bool:
        return self.sampled

    def plain_rows(self, objects: Any, words: Iterator[Vocabulary], dtype: DType, grow: bool) -> tuple[Any, Float64]:
        rows = self.written(objects)
        return rows, squared_lengths(rows)

    def plain_names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns) -> Sequence[Any]:
        one = objects.take(slice(0, 1))
        if self.called is None:
            return range(self.written(one).shape[1])
        return self.called(one, columns) if callable(self.called) else self.called

    def columns_at_least(self, objects: Any) -> int:
        return 0 if self.number is None else self.number(objects)


class Wrapped(FeatureMap):
    """A map based on another one with the same columns."""

    inner: FeatureMap

    @property
    def counted(self) -> bool:
        return self.inner.counted

    @property
    def in_blocks(self) -> bool:
        return self.inner.in_blocks

    @property
    def vocabularies(self) -> int:
        return self.inner.vocabularies

    def spelling(self, objects: Any) -> Iterator[Spelling]:
        return self.inner.spelling(objects)

    def plain_names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns) -> Sequence[Any]:
        return self.inner.names(objects, words, columns)

    def columns_at_least(self, objects: Any) -> int:
        return self.inner.columns_at_least(objects)


@final
@dataclass(frozen=True, eq=False)
class Stretched(Wrapped):
    """The features of each object times a factor."""

    inner: FeatureMap
    stretch: Stretch

    def counts(self, objects: Any) -> CountFeatures:
        found = self.inner.counts(objects)
        return found.scaled(self.stretch(found.squared_lengths))

    def plain_rows(self, objects: Any, words: Iterator[Vocabulary], dtype: DType, grow: bool) -> tuple[Any, Float64]:
        rows, lengths = self.inner.rows(objects, words, dtype, grow=grow)
        factors = self.stretch(lengths)
        return rows_times(rows, factors), lengths * factors**2

    def shares(self, one: Any, weigh: Weigh) -> Shares | None:
        found = self.inner.shares(one, weigh)
        if found is None or not self.counted:
            return None
        factor = self.stretch(self.inner.counts(one).squared_lengths)[0]
        return Shares(found.parts, factor * found.contributions)


@final
@dataclass(frozen=True, eq=False)
class OfImages(Wrapped):
    """The features of images of objects: columns of a table, or the result of a function."""

    inner: FeatureMap
    images: Callable[[Any], Objects]
    called: Callable[[Any], Columns]
    """The names of the columns of the image of one object."""

    def counts(self, objects: Any) -> CountFeatures:
        return self.inner.counts(self.images(objects))

    def spelling(self, objects: Any) -> Iterator[Spelling]:
        return self.inner.spelling(self.images(objects))

    def plain_rows(self, objects: Any, words: Iterator[Vocabulary], dtype: DType, grow: bool) -> tuple[Any, Float64]:
        return self.inner.rows(self.images(objects), words, dtype, grow=grow)

    def plain_names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns) -> Sequence[Any]:
        return self.inner.names(self.images(objects), words, self.called(objects))

    def columns_at_least(self, objects: Any) -> int:
        return self.inner.columns_at_least(self.images(objects.take(slice(0, 1))))


@final
@dataclass(frozen=True, eq=False)
class SideBySide(FeatureMap):
    """The features of several maps. Those of maps that all count get names of their own in one vocabulary."""

    parts: tuple[FeatureMap, ...]

    @property
    def counted(self) -> bool:
        return all(part.counted for part in self.parts)

    @property
    def in_blocks(self) -> bool:
        return all(part.in_blocks for part in self.parts)

    @property
    def vocabularies(self) -> int:
        return 1 if self.counted else sum(part.vocabularies for part in self.parts)

    def counts(self, objects: Any) -> CountFeatures:
        found = [part.counts(objects).renamed(number) for number, part in enumerate(self.parts)]
        return CountFeatures.side_by_side(found)

    def spelling(self, objects: Any) -> Iterator[Spelling]:
        for number, part in enumerate(self.parts):
            for names, spell in part.spelling(objects):
                yield renamed(names, number), spell

    def plain_rows(self, objects: Any, words: Iterator[Vocabulary], dtype: DType, grow: bool) -> tuple[Any, Float64]:
        found = [part.rows(objects, words, dtype, grow=grow) for part in self.parts]
        return side_by_side([rows for rows, _ in found]), np.sum([lengths for _, lengths in found], axis=0)

    def plain_names(self, objects: Any, words: Iterator[Vocabulary], columns: Columns) -> Sequence[Any]:
        return [name for part in self.parts for name in part.names(objects, words, columns)]

    def columns_at_least(self, objects: Any) -> int:
        return sum(part.columns_at_least(objects) for part in self.parts)

    def shares(self, one: Any, weigh: Weigh) -> Shares | None:
        if not self.counted:
            return None
        found = [part.shares(one, _of_part(weigh, number)) for number, part in enumerate(self.parts)]
        known = [part for part in found if part is not None]
        if len(known) < len(found):
            return None
        if len({len(part.parts) for part in known}) > 1:
            raise KernelError(
                f"The terms of this sum cut {one.kind} into different parts, so these cannot be compared."
            )
        return Shares(known[0].parts, np.sum([part.contributions for part in known], axis=0))


def _of_part(weigh: Weigh, number: int) -> Weigh:
    """Weights by the names of features within one of several maps."""
    return lambda names: weigh(renamed(names, number))


def _spelt(names: UInt64, spelling: Iterator[Spelling]) -> list[Any]:
    """Each name as it is spelt where it first occurs."""
    place = {int(name): column for column, name in enumerate(names)}
    found = [f"{int(name):016x}" for name in names]
    for own, spell in spelling:
        for k, name in enumerate(own.tolist()):
            column = place.pop(name, None)
            if column is not None:
                found[column] = spell(k)
        if not place:
            break
    return found
