"""Which blocks a Gram matrix is computed in: a pure function of its shape and of a byte budget.

The plan never depends on the number of threads, so results are the same bit for bit on any machine. A strip is the unit
of scheduling: its tiles share their rows and are processed in order by one thread, so sums over columns are always
added in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

ROWS, COLUMNS = 256, 1024
"""The shape of a tile of a large matrix. Smaller tiles spend more time on calls; larger ones leave threads idle at the
end, and their features no longer fit the second-level cache."""
_LONGEST = 4096  # rows or columns of a tile of a narrow matrix; beyond, its features do not fit the cache


@dataclass(frozen=True)
class Tile:
    """Rows ``top:bottom`` against columns ``left:right``."""

    top: int
    bottom: int
    left: int
    right: int

    @property
    def rows(self) -> slice:
        return slice(self.top, self.bottom)

    @property
    def columns(self) -> slice:
        return slice(self.left, self.right)

    @property
    def shape(self) -> tuple[int, int]:
        return self.bottom - self.top, self.right - self.left

    @property
    def transposed(self) -> Tile:
        return Tile(self.left, self.right, self.top, self.bottom)

    @property
    def entries(self) -> int:
        return (self.bottom - self.top) * (self.right - self.left)


Strip = tuple[Tile, ...]


def plan(
    n_rows: int, n_columns: int, *, itemsize: int, budget: int, symmetric: bool = False, by_columns: bool = False
) -> tuple[Strip, ...]:
    """Strips of tiles that cover the matrix, or its upper triangle if `symmetric`, each tile within `budget` bytes.

    `by_columns` makes strips whose tiles share their columns, for sums over rows.

    >>> [len(strip) for strip in plan(600, 600, itemsize=4, budget=2**20, symmetric=True)]
    [2, 1]
    """
    if by_columns:
        strips_of_rows = plan(n_columns, n_rows, itemsize=itemsize, budget=budget)
        return tuple(tuple(tile.transposed for tile in strip) for strip in strips_of_rows)
    entries = max(1, budget // itemsize)
    if symmetric:
        side = max(1, min(2 * ROWS, int(entries**0.5), n_rows))
        height = width = side if n_rows > side else max(1, -(-n_rows // 2) if n_rows > ROWS else n_rows)
    else:
        # Few rows make wider tiles, few columns taller ones: small tiles cost more than they are worth.
        width = max(1, min(max(COLUMNS, min(ROWS * COLUMNS // max(1, n_rows), _LONGEST)), n_columns, entries))
        height = max(1, min(max(ROWS, min(ROWS * COLUMNS // width, _LONGEST)), n_rows, entries // width))
    strips = []
    for top in range(0, n_rows, height):
        bottom = min(top + height, n_rows)
        start = top if symmetric else 0
        strips.append(
            tuple(Tile(top, bottom, left, min(left + width, n_columns)) for left in range(start, n_columns, width))
        )
    return tuple(strip for strip in strips if strip)
