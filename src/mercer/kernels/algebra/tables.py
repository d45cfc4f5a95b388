"""A kernel on chosen columns of a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

from mercer import _check
from mercer.inputs import readings
from mercer.inputs.base import Objects
from mercer.inputs.tables import Table
from mercer.kernels.algebra.of_kernel import Through
from mercer.kernels.base import Kernel
from mercer.kernels.features.feature_map import Columns
from mercer.kernels.text.latex import words


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

    @property
    def on_columns(self) -> tuple[OnColumns, ...]:
        return (self,)

    def column_names(self, one: Any) -> Columns:
        return self.columns

    def latex(self, x: str = "x", z: str = "z") -> str:
        columns = ", ".join(words(name) for name in self.columns)
        return self.kernel.latex(f"{{{x}}}_{{{columns}}}", f"{{{z}}}_{{{columns}}}")

    def images(self, objects: Table) -> Objects:
        return objects.objects(self.columns, self.kernel.domain, self.as_)

    def __str__(self) -> str:
        names = repr(self.columns[0]) if len(self.columns) == 1 else repr(list(self.columns))
        reading = "" if self.as_ is None else f", as_={self.as_!r}"
        return f"on({names}, {self.kernel}{reading})"


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
