"""Spreadsheets, databases, Feather and Parquet: the same table as CSV, and what is refused."""

import contextlib
import datetime as dt
import io
import pickle
import sqlite3
import zipfile

import pytest

from mercer.errors import DataFileError
from mercer.readers import read
from mercer.testing.workbooks import opendocument, workbook

ROWS = [("age", "colour", "when", "ok", "y")] + [
    (20 + n % 30 + 0.5, ("red", "blue")[n % 2], dt.datetime(2020, 1, 1) + dt.timedelta(days=9 * n), n % 3 == 0, n % 2)
    for n in range(40)
]


def xlsx(path, sheets):
    path.write_bytes(workbook(sheets))
    return path


def arrow(path, table):
    import pyarrow.feather
    import pyarrow.parquet

    write = pyarrow.feather.write_feather if path.suffix == ".feather" else pyarrow.parquet.write_table
    write(table, path)
    return path


def is_the_table(data):
    assert {key: column.kind for key, column in data.objects.items()} == {
        "age": "number",
        "colour": "category",
        "when": "date",
        "ok": "number",
    }
    assert data.objects["age"].values[:2].tolist() == [20.5, 21.5]
    assert data.objects["when"].values[1] == 18262 + 9
    assert data.objects["ok"].values[:4].tolist() == [1, 0, 0, 1]
    assert data.labels.tolist() == [n % 2 for n in range(40)]


def test_excel(tmp_path):
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "t.xlsx", {"people": ROWS, "more": ROWS[:5]})
    data = read(path)
    is_the_table(data)
    assert any('"people" is read; --sheet chooses another: "more"' in note for note in data.notes)
    assert len(read(path, sheet="more", drop=("when",))) == 4
    with pytest.raises(DataFileError, match="there is no sheet"):
        read(path, sheet="peopel")
    titled = [("People of 2020", "", "", "", ""), ("", "", "", "", ""), *ROWS]
    assert "2 lines above the header" in " ".join(read(xlsx(tmp_path / "u.xlsx", {"a": titled})).notes)


def test_damaged_and_huge_spreadsheets(tmp_path):
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "t.xlsx", {"a": ROWS})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataFileError, match="spreadsheet"):
        read(path)
    path.write_bytes(whole)
    with pytest.raises(DataFileError, match="too large once unpacked"):
        read(path, max_bytes=3000)
    (tmp_path / "v.xlsx").write_text("a,b\n1,2\n")
    with pytest.raises(DataFileError, match="does not begin like one"):
        read(tmp_path / "v.xlsx")


def repacked(path, changed):
    """The same file with other parts, each of which `changed` makes of the old one."""
    with zipfile.ZipFile(path) as archive:
        members = {name: changed(name, archive.read(name)) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize("far", ["XFD1048576", "XFD1000", "C1048576", "AAA200000"])
@pytest.mark.parametrize("row", ["<row r='9999'><c r='{}'><v>1</v></c></row>", "<row><c  r = '{}'><v>1</v></c></row>"])
def test_a_cell_far_from_the_others_is_refused_before_places_are_made(tmp_path, far, row):
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "t.xlsx", {"a": ROWS})
    more = row.format(far).encode()
    repacked(path, lambda name, text: text.replace(b"</sheetData>", more + b"</sheetData>"))
    with pytest.raises(DataFileError, match="are so far apart"):
        read(path)


def test_tables_of_many_rows_are_not_far(tmp_path):
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "t.xlsx", {"a": ROWS})
    repacked(path, lambda name, text: text.replace(b"<row r='41'>", b"<row r='4000'>"))
    is_the_table(read(path))


def test_a_part_that_is_longer_than_it_says(tmp_path):
    pytest.importorskip("python_calamine")
    path = xlsx(tmp_path / "t.xlsx", {"a": ROWS})
    repacked(path, lambda name, text: text + b" " * 10**6 if "sheet1" in name else text)
    content = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        (size,) = (member.file_size for member in archive.infolist() if "sheet1" in member.filename)
    assert content.count(size.to_bytes(4, "little")) == 2
    path.write_bytes(content.replace(size.to_bytes(4, "little"), (700).to_bytes(4, "little")))
    with pytest.raises(DataFileError, match="longer than it says"):
        read(path)


def ods(path, repeated):
    path.write_bytes(opendocument(repeated))
    return path


def test_spreadsheets_of_other_kinds_are_looked_at_in_a_process_of_its_own(tmp_path):
    pytest.importorskip("python_calamine")
    data = read(ods(tmp_path / "t.ods", 1), target="kind")
    assert data.objects["mass"].values.tolist() == [n * n % 7 for n in range(20)]
    with pytest.raises(DataFileError, match="are so far apart"):
        read(ods(tmp_path / "t.ods", 1_048_000), target="kind")
    (tmp_path / "t.xls").write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(4000))
    with pytest.raises(DataFileError, match="spreadsheet"):
        read(tmp_path / "t.xls")


def test_a_panic_of_the_library_is_an_answer(tmp_path, monkeypatch):
    calamine = pytest.importorskip("python_calamine")

    def panics(*_):
        raise type("PanicException", (BaseException,), {})("index out of bounds")

    class Book:
        from_filelike = staticmethod(panics)

    path = xlsx(tmp_path / "t.xlsx", {"a": ROWS})
    monkeypatch.setattr(calamine, "CalamineWorkbook", Book)
    with pytest.raises(DataFileError, match="index out of bounds"):
        read(path)


def database(path, *tables):
    with sqlite3.connect(path) as connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table} (age REAL, colour TEXT, [when] TEXT, ok TEXT, y INTEGER)")
            rows = [(a, b, c.isoformat(), str(d).lower(), e) for a, b, c, d, e in ROWS[1:]]
            connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", rows)
    connection.close()
    return path


def test_sqlite(tmp_path):
    is_the_table(read(database(tmp_path / "one.db", "people")))
    two = database(tmp_path / "two.sqlite", "people", "others")
    is_the_table(read(two, sheet="others"))
    with pytest.raises(DataFileError, match="which of its 2 tables"):
        read(two)
    with pytest.raises(DataFileError, match="there is no table"):
        read(two, sheet="other")


def test_databases_run_nothing(tmp_path):
    path = database(tmp_path / "a.db", "people")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE VIEW zzz AS SELECT load_extension('x')")
        connection.execute("CREATE TABLE blobs (y INTEGER, b BLOB)")
        connection.execute("CREATE TABLE made (y INTEGER, g TEXT GENERATED ALWAYS AS (zeroblob(y)))")
        connection.execute("INSERT INTO made (y) VALUES (2000000)")
        connection.execute("INSERT INTO blobs (y, b) VALUES (1, x'00')")
    connection.close()
    with pytest.raises(DataFileError, match="no table"):
        read(path, sheet="zzz")
    with pytest.raises(DataFileError, match="binary content"):
        read(path, sheet="blobs", target="y")
    with pytest.raises(DataFileError, match="too big"):
        read(path, sheet="made", target="y", max_bytes=1_000_000)
    content = path.read_bytes()
    path.write_bytes(content[:5000] + b"\xff" * 3000)
    with pytest.raises(DataFileError):
        read(path)


def test_feather_and_parquet(tmp_path):
    pa = pytest.importorskip("pyarrow")
    feather, parquet = pytest.importorskip("pyarrow.feather"), pytest.importorskip("pyarrow.parquet")
    table = pa.table(dict(zip(ROWS[0], map(list, zip(*ROWS[1:], strict=True)), strict=True)))
    feather.write_feather(table, str(tmp_path / "t.feather"))
    parquet.write_table(table, tmp_path / "t.parquet")
    is_the_table(read(tmp_path / "t.feather"))
    is_the_table(read(tmp_path / "t.parquet"))
    zeros = pa.table({"a": [0.0] * 100_000, "y": [0, 1] * 50_000})
    feather.write_feather(zeros, str(tmp_path / "z.feather"), compression="zstd")
    with pytest.raises(DataFileError, match="too large once unpacked"):
        read(tmp_path / "z.feather", max_bytes=100_000)
    (tmp_path / "u.feather").write_bytes(b"ARROW1\0\0" + b"\xff" * 100)
    with pytest.raises(DataFileError, match="Feather"):
        read(tmp_path / "u.feather")


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_pickles_are_refused_in_words(tmp_path, protocol):
    stream = io.BytesIO()
    pickle.dump({"a": [1, 2]}, stream, protocol=protocol)
    for name in ("t.pkl", "t.csv"):
        (tmp_path / name).write_bytes(stream.getvalue())
        with pytest.raises(DataFileError, match="a pickle, which can run any code"):
            read(tmp_path / name)


@pytest.mark.parametrize("ending", ["feather", "parquet"])
@pytest.mark.parametrize("days", [2**31 - 1, -(10**6)])
def test_dates_that_nobody_can_write_down(tmp_path, ending, days):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"x": [1.0, 2.0, 3.0], "when": pa.array([0, days, days], pa.date32()), "y": [0, 1, 0]})
    path = arrow(tmp_path / f"t.{ending}", table)
    with pytest.raises(
        DataFileError, match=rf't.{ending}:2: column "when": {days} in date32\[day\] is not a date'
    ) as told:
        read(path, target="y")
    assert "--drop when" in told.value.__notes__[0]
    assert read(path, target="y", drop=("when",)).labels.tolist() == [0, 1, 0]


def test_time_zones_that_nobody_knows(tmp_path):
    pa = pytest.importorskip("pyarrow")
    when = pa.array([0, 1], pa.timestamp("s", tz="Nowhere/Else"))
    path = arrow(tmp_path / "t.feather", pa.table({"when": when, "y": [0, 1]}))
    with pytest.raises(DataFileError, match='"Nowhere/Else" is not a time zone'):
        read(path, target="y")


def test_names_of_columns_that_are_no_text(tmp_path):
    pa = pytest.importorskip("pyarrow")
    path = arrow(tmp_path / "t.feather", pa.table({"colour": [1.0, 2.0], "y": [0, 1]}))
    path.write_bytes(path.read_bytes().replace(b"colour", b"co\xecour"))
    with pytest.raises(DataFileError, match="not a Feather file that can be read"):
        read(path, target="y")


@pytest.mark.parametrize(("unit", "factor"), [("s", 1e6), ("ms", 1e3), ("us", 1.0), ("ns", 1e-3)])
def test_durations_are_microseconds_however_long(tmp_path, unit, factor):
    pa = pytest.importorskip("pyarrow")
    lasting = pa.array([2**62, 5], pa.duration(unit))
    path = arrow(tmp_path / "t.feather", pa.table({"lasting": lasting, "y": [0, 1]}))
    assert read(path, target="y").objects["lasting"].values.tolist() == [2**62 * factor, 5 * factor]


def test_names_in_a_database_that_are_no_text(tmp_path):
    path = tmp_path / "t.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE pets (colour TEXT, y INTEGER)")
        connection.executemany("INSERT INTO pets VALUES (?, ?)", [("red", 0), ("blue", 1)])
        connection.commit()
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b"colour", b"co\xe3our"))
    with pytest.raises(DataFileError, match="not a database that can be read"):
        read(path, target="y")
