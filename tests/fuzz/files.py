"""Mutated files of every format: each is answered with objects or a DataFileError, within its time and memory.

    python -m tests.fuzz.files FORMAT [cases, 10000 by default] [first case]

Every case follows from its format and number alone. Files are read in a process of its own, whose memory is limited;
cases that fail are printed with the way they fail.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import decimal
import functools
import io
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import mercer
from mercer.errors import DataFileError
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.readers.streaming import stream
from mercer.testing.file_samples import FileSample, file_samples
from mercer.testing.workbooks import opendocument

SLOWEST = 10
"""Seconds for one file of a few kilobytes, on a loaded machine."""
MEMORY = 1 << 26
"""Bytes beyond those of the process with all readers imported. Files have some kilobytes, so that ten times their size
is nothing next to what libraries take at once."""
HOSTILE = (
    b"", b"0", b"-1", b"1e999", b"nan", b"inf", b"2000000000", b"9223372036854775808", b"1" * 400, b"0x10", b"\0",
    b"\xff", b"\x80\x04", b"\xef\xbb\xbf", b"\r", b"\n\n", b'"', b"'", b",", b"\t", b";", b":", b"(", b")", b"<",
    b">", b"&lol;", b"{", b"}", b"[", b"]", b"\\u0000", b"null", b"NaN", b"\x1b[2J", b"=cmd()", b"#", b"%",
    b"../..", b"a" * 2000, "é".encode(), "\u202e".encode(), b"C1CC", b"[Fe+]", b"[" * 500, b"(" * 500,
    b'{"a":' * 200,
)  # fmt: skip


@functools.cache
def all_samples() -> list[FileSample]:
    return [*file_samples(), *_odd_columns()]


def _odd_columns() -> Iterator[FileSample]:
    """Tables with columns of the types that readers have branches for: dates, times, decimals, codes, nothing."""
    days = [dt.date(2020, 1, 1 + day % 28) for day in range(20)]
    columns = {
        "when": [dt.datetime.combine(day, dt.time(day.day % 24)) for day in days],
        "day": days, "hour": [dt.time(day.day % 24, 5) for day in days],
        "long": [dt.timedelta(hours=day.day) for day in days],
        "price": [decimal.Decimal(day.day) / 4 for day in days], "whole": list(range(20)),
        "flag": [day.day % 2 == 0 for day in days], "word": [f"w{day.day % 3}" for day in days],
        "none": [None] * 20, "gaps": [None if day.day % 3 else day.day / 8 for day in days],
    }  # fmt: skip
    labels: Any = [day.day % 2 for day in days]
    settings = {"target": "flag"}
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        import pyarrow.feather as pf
        import pyarrow.parquet as pq

        zoned = pa.array(columns["when"], pa.timestamp("us", tz="Europe/Berlin"))
        table = pa.table({**columns, "zoned": zoned, "code": pa.array(columns["word"]).dictionary_encode()})
        for format_, write in (("parquet", pq.write_table), ("feather", pf.write_feather)):
            stream = io.BytesIO()
            write(table, stream)
            content = [stream.getvalue()]
            yield FileSample(format_, f"b.{format_}", (), content, labels=labels, settings=settings, binary=True)
    with contextlib.suppress(ImportError):
        import python_calamine  # noqa: F401

        yield FileSample(
            "excel", "b.ods", (), [opendocument()], labels=[0, 1] * 10, settings={"target": "kind"}, binary=True
        )
    for name, array in {
        "whole": np.arange(60),
        "text": np.array(columns["word"] * 3),
        "single": np.eye(20, dtype="f4"),
    }.items():
        stream = io.BytesIO()
        np.save(stream, array.reshape(20, -1), allow_pickle=False)
        yield FileSample("npy", f"{name}.npy", (), [stream.getvalue()], settings={"target": "-1"}, binary=True)
    sparse, stream = sp.csr_array(np.eye(20)[:, :7]), io.BytesIO()
    sp.save_npz(stream, sparse)
    yield FileSample("npz", "sparse.npz", (), [stream.getvalue()], binary=True)


def samples(format_: str) -> list[FileSample]:
    return [sample for sample in all_samples() if sample.format == format_]


def mutated(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """The content with a few changes: bytes, pieces, lines, numbers, and pieces of other files."""
    found = bytearray(content)
    for _ in range(chance.choice((1, 1, 1, 2, 3, 8))):
        chance.choice(CHANGES)(found, others, chance)
    return bytes(found)


def _place(found: bytearray, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(found) + 1)
    return start, min(len(found), start + int(chance.expovariate(1 / 12)) + 1)


def flip(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    if found:
        found[chance.randrange(len(found))] ^= 1 << chance.randrange(8)


def drop(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    start, stop = _place(found, chance)
    del found[start:stop]


def repeat(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    start, stop = _place(found, chance)
    found[start:start] = found[start:stop] * chance.choice((1, 2, 50))


def insert(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    start, stop = _place(found, chance)
    found[start : chance.choice((start, stop))] = chance.choice(HOSTILE)


def cut(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    start, _ = _place(found, chance)
    del found[start:]


def splice(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    other = chance.choice(others)
    start, _ = _place(found, chance)
    begin = chance.randrange(len(other) + 1)
    found[start:] = other[begin:]


def shuffle(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    lines = bytes(found).split(b"\n")
    chance.shuffle(lines)
    found[:] = b"\n".join(lines)


def number(found: bytearray, others: list[bytes], chance: random.Random) -> None:
    digits = [place for place, byte in enumerate(found) if chr(byte).isdigit()]
    if digits:
        place = chance.choice(digits)
        found[place : place + 1] = chance.choice((b"99999999", b"2000000000", b"-3", b"1e300", b".5", b"0"))


CHANGES: tuple[Callable[[bytearray, list[bytes], random.Random], None], ...] = (
    flip, drop, repeat, insert, cut, splice, shuffle, number,
)  # fmt: skip


def mutated_inside(content: bytes, others: list[bytes], chance: random.Random) -> bytes:
    """An archive that is whole, with a part that is not: what a reader meets behind the checksums."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    spoilt, stream = chance.choice(sorted(parts)), io.BytesIO()
    parts[spoilt] = mutated(parts[spoilt], others, chance)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part, zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def write_case(format_: str, case: int, folder: Path) -> tuple[Path, FileSample]:
    """The file, or the folder, of one case."""
    chance = random.Random(f"{format_} {case}")
    own = samples(format_)
    sample = chance.choice(own)
    others = [other.content for other in all_samples() if other.content][:12]
    if not sample.folder:
        path = folder / sample.name
        inside = sample.content.startswith(b"PK") and chance.random() < 0.7
        path.write_bytes((mutated_inside if inside else mutated)(sample.content, others, chance))
        return path, sample
    spoilt = chance.sample(sorted(sample.folder), chance.choice((1, 1, 2)))
    for name, content in sample.folder.items():
        path = folder / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(mutated(content, others, chance) if name in spoilt else content)
    return folder / "folder", sample


def answered(format_: str, case: int) -> str:
    """How a case is answered, by `read` and by `stream`; anything but data or a DataFileError is raised."""
    with tempfile.TemporaryDirectory() as place:
        path, sample = write_case(format_, case, Path(place))
        options = Options(**{"require_labels": False, **sample.settings})
        told = []
        for how in (lambda: read(path, options), lambda: list(stream(path, options))):
            try:
                how()
                told.append("read")
            except DataFileError as error:
                if not str(error):
                    raise AssertionError("an error without words") from error
                told.append("refused")
        return " ".join(told)


def run(format_: str, cases: range) -> Iterator[tuple[int, str]]:
    """The cases that are not answered, each with its traceback; a new process goes on after the case one died of."""
    start = cases.start
    while start < cases.stop:
        done = _started("--serve", format_, str(start), str(cases.stop))
        reached = [int(line) for line in done.stdout.split()]
        if done.returncode == 0 and reached and reached[-1] == cases.stop - 1:
            return
        failed = reached[-1] if reached else start
        yield failed, done.stderr[-3000:] or f"the process ended with {done.returncode}"
        start = failed + 1


def _started(*arguments: str) -> subprocess.CompletedProcess[str]:
    home = Path(mercer.__file__).parents[2]
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join([str(home / "src"), str(home)])}
    command = [sys.executable, "-m", "tests.fuzz.files", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=settings, cwd=home, check=False)


def all_answered(formats: list[str], count: int) -> set[str]:
    """The formats whose first cases are all answered: each in a fork of one process, which imports everything once."""
    return set(_started("--serve-all", str(count), *formats).stdout.split())


def serve_all(formats: list[str], cases: range) -> None:
    """Answer the cases of each format in a child of this process, and print the formats whose child ends well."""
    for format_ in formats:
        child = os.fork()
        if not child:
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), 1)
            try:
                serve(format_, cases)
            except BaseException:
                os._exit(1)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            sys.stdout.write(f"{format_}\n")
            sys.stdout.flush()


def serve(format_: str, cases: range) -> None:
    """Answer cases in this process, and print the number of each before it is tried."""
    warnings.simplefilter("error")
    answered(format_, -1)  # all that is imported is there before memory is limited
    pages = int(Path("/proc/self/statm").read_text().split()[0]) if Path("/proc/self/statm").exists() else 0
    if pages:
        most = pages * resource.getpagesize() + MEMORY
        resource.setrlimit(resource.RLIMIT_AS, (most, most))

    def late(*_: object) -> None:
        raise TimeoutError(f"no answer within {SLOWEST} s")

    signal.signal(signal.SIGALRM, late)
    for case in cases:
        sys.stdout.write(f"{case}\n")
        sys.stdout.flush()
        signal.alarm(SLOWEST)
        answered(format_, case)
        signal.alarm(0)


def main(arguments: list[str]) -> int:
    if arguments[0] == "--serve":
        serve(arguments[1], range(int(arguments[2]), int(arguments[3])))
        return 0
    if arguments[0] == "--serve-all":
        serve_all(arguments[2:], range(int(arguments[1])))
        return 0
    count = int(arguments[1]) if len(arguments) > 1 else 10_000
    first = int(arguments[2]) if len(arguments) > 2 else 0
    failures = 0
    for case, why in run(arguments[0], range(first, first + count)):
        failures += 1
        sys.stdout.write(f"{arguments[0]} {case}:\n{why}\n\n")
    sys.stdout.write(f"{arguments[0]}: {count - failures} passed, {failures} failed\n")
    return bool(failures)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
