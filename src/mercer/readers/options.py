"""What users can specify about a file instead of letting Mercer detect it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

MIB = 2**20  # bytes
MOST_BYTES = 1024 * MIB
"""The largest file that is read, unless the user allows more."""
_WIDEST_TABLE = 200_000
"""The most columns of a table: each takes about a kilobyte and 30 microseconds besides its cells."""
_WIDEST_MATRIX = 10_000_000
"""The most columns of a matrix: learners keep a number for each."""


@final
@dataclass(frozen=True)
class Options:
    """How to read a file; Mercer detects what you do not set.

    `target` is the column to learn, by name or by number (from 1, or from the end: -1); `labels` is a file with one
    label per object, or a table of ids and labels. `label_pattern` is a regular expression whose first group is the
    label in the header line of a FASTA record.
    """

    format: str | None = None
    target: str | None = None
    more_targets: tuple[str, ...] = ()
    """Other columns to learn, each by its own model."""
    drop: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    """Columns of numbers that are codes, not quantities."""
    text: tuple[str, ...] = ()
    smiles: tuple[str, ...] = ()
    trees: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    """Columns in which anything but a number is an error."""
    styles: tuple[tuple[str, str], ...] = ()
    """Columns and their notation: `Data.styles` of another file."""
    sheet: str | None = None
    """Which sheet of a spreadsheet, or table of a database."""
    only: tuple[str, ...] = ()
    """The columns to read; others are ignored."""
    id: str | None = None
    """The column that names the rows; an empty name if none does."""
    group: str | None = None
    """The column that says which rows belong together, such as those of one patient; it is not learnt from."""
    time: str | None = None
    """The column that says when a row was seen: machines are tested on later rows than those they learnt from. They
    learn from the seasons of dates, but not from their trend, unless the column is kept."""
    weight: str | None = None
    """The column with the weight of each row, in training and in scores; it is not learnt from."""
    class_names: tuple[tuple[str, str], ...] = ()
    """New names of labels; labels with the same new name become one class."""
    keep: tuple[str, ...] = ()
    """Columns to learn from although they seem to number or name the rows."""
    whole_files: bool | None = None
    """Whether a text file is one object rather than one per line; None to decide by the layout of the folder."""
    labels: str | None = None
    label_pattern: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal_comma: bool = False
    skip_bad: bool = False
    """Leave out molecules that cannot be read."""
    skip_unlabelled: bool = False
    """Leave out rows of a table that have no label."""
    first_index: int | None = None
    """Whether the features of svmlight files are counted from 0 or 1."""
    max_bytes: int = MOST_BYTES
    max_features: int | None = None
    """The most columns a file may have. None for 200,000 columns of a table, which are kept one by one, and for
    10,000,000 of a matrix, dense or sparse."""
    as_written: bool = False
    """Leave labels as they are in the file: a caller that reads it in pieces converts the labels of all pieces."""
    require_target: bool = True
    """Whether a table without a target is an error; objects to be predicted have none."""
    require_labels: bool = True
    """With `require_target`, whether objects must have labels at all."""

    def widest(self, *, table: bool) -> int:
        """The most columns that a table, or a matrix, may have."""
        if self.max_features is not None:
            return self.max_features
        return _WIDEST_TABLE if table else _WIDEST_MATRIX
