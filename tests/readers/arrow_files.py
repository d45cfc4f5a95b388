"""Tables in the formats of Apache Arrow; tests that need them are skipped without pyarrow."""

from pathlib import Path

import pytest


def write_arrow(path, columns, rows):
    """A Parquet file, or an Arrow file by any other name, whose parts have so many rows each."""
    pa = pytest.importorskip("pyarrow")
    table = pa.table(columns)
    if Path(path).suffix == ".parquet":
        pytest.importorskip("pyarrow.parquet").write_table(table, path, row_group_size=rows)
    else:
        pytest.importorskip("pyarrow.feather").write_feather(table, path, chunksize=rows)
