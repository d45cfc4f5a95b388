"""A kernel on chosen columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Self, final

from mercer import _check
from mercer.inputs import readings
from mercer.inputs.base import Objects
from mercer.inputs.tables import Table
from mercer.kernels.algebra.through import Through
from mercer.kernels.base import Kernel, children


@final
@dataclass(frozen=True)
class OnColumns(Through):
    """k(x, z) = k0(x[columns], z[columns]): written ``kernels.on(columns, kernel)``.

    Kernels on numbers take several columns, kernels on other objects one. `as_` says what is written in a column that
    its kernel could not read by itself: ``as_="smiles"`` for molecules. Sums and products of such kernels compare rows
    that mix kinds.
    """

    columns: tuple[str, ...]
    kernel: Kernel
    as_: str | None = None

    reason = "it is a kernel on some columns of the rows"

    def __post_init__(self) -> None:
        _check.instance("on", "kernel", self.kernel, Kernel, "a kernel")
        if self.kernel.domain is Table:
            raise _check.fail("on", "kernel", "a kernel on the content of a column, not on a table", self.kernel)
        rule = "a column name or a non-empty list of column names"
        columns = _check.instance("on", "columns", self.columns, tuple, rule)
        if not columns or not all(isinstance(name, str) for name in columns):
            raise _check.fail("on", "columns", rule, self.columns)
        if self.as_ is not None:
            _check.choice("on", "as_", self.as_, readings(self.kernel.domain))
            if len(columns) > 1:
                raise _check.fail("on", "columns", f"one column, to be read as {self.as_!r}", self.columns)

    domain = Table

    def images(self, objects: Table) -> Objects:
        return objects.objects(self.columns, self.kernel.domain, self.as_)

    def __str__(self) -> str:
        names = repr(self.columns[0]) if len(self.columns) == 1 else repr(list(self.columns))
        reading = "" if self.as_ is None else f", as_={self.as_!r}"
        return f"on({names}, {self.kernel}{reading})"

    @classmethod
    def examples(cls) -> Iterator[Self]:
        from mercer.kernels.strings.spectrum import Spectrum
        from mercer.kernels.vectors.rbf import RBF

        yield cls(("text",), Spectrum(p=2))
        yield cls(("a", "b"), RBF(gamma=0.5))


def on(columns: str | Iterable[str], kernel: Kernel, as_: str | None = None) -> OnColumns:
    """A kernel on some columns of a table; add or multiply several to compare rows that mix kinds.

    >>> from mercer import kernels
    >>> mixed = kernels.on("sequence", kernels.Spectrum(2)) + kernels.on(["a", "b"], kernels.RBF(gamma=1.0))
    >>> rows = {"sequence": ["GATT", "ATTA"], "a": [0.0, 0.0], "b": [1.0, 1.0]}
    >>> mixed.fit(rows)(rows)
    array([[4., 3.],
           [3., 4.]])
    """
    return OnColumns((columns,) if isinstance(columns, str) else tuple(columns), kernel, as_)


def column_kernels(kernel: Kernel) -> Iterator[OnColumns]:
    """The kernels on columns that a kernel on tables is made of."""
    if isinstance(kernel, OnColumns):
        yield kernel
        return
    for child in children(kernel):
        yield from column_kernels(child)
