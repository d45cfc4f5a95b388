"""Damaged and hostile model files by the thousand: loading one gives a model or a ModelFileError, and nothing else.

    python -m tests.storage.fuzz [cases, 10000 by default] [first seed]

Every case follows from its seed alone. A case that takes over ten seconds fails the run.
"""

import copy
import io
import json
import random
import sys
import tempfile
import time
import tracemalloc
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import mercer
from mercer.errors import MercerError, ModelFileError
from mercer.storage.format import described
from tests.storage import samples
from tests.storage.pipelines import samples as pipelines
from tests.storage.samples import npy, rewritten, with_header, zip_end

MACHINES = ("dense", "sparse", "strings", "table", "composite", "precomputed", "three classes")
MODELS = MACHINES + tuple(f"pipeline: {name}" for name in pipelines.CASES)
SLOWEST = 10.0

WRONG: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63), 10**19, 1.5, 1e308, -0.0, "", "x", "../../evil", "/etc/passwd",
    "os.system", "__class__", "SVC", "Table", "Sum", "nan", "\0", "\ud800", "a" * 5000, [], {}, [[]], [None] * 50,
    {"array": "expansion/coefficients"}, {"array": "absent"}, {"kernel": "RBF", "fields": {}},
    {"kernel": "os", "fields": {}},
    {"kernel": "Spectrum", "fields": {"p": 10**18}}, {"function": "f"}, {"user": "K"},
    {"tuple": []}, {"dict": [[1, 2]]},
    {"dict": [[[], 1]]}, {"float": "inf"}, {"float": "1e999"}, {"objects": "Items", "arrays": {}},
    {"loss": "Hinge", "fields": {}},
    {"kernel": "Polynomial", "fields": {"degree": 10**9}}, {"kernel": "Precomputed", "fields": {}}, {"__proto__": 1},
    {"model": "Pipeline", "params": {"steps": []}}, {"model": "SVC", "params": {}}, {"model": "os", "params": {}},
    {"model": "PolynomialFeatures", "params": {"degree": 10**6}}, {"model": "FunctionTransformer", "params": {}},
    {"dtype": "<f8"}, {"dtype": "|O"}, {"plain": {}}, "passthrough", "drop", "(a+)+$",
]  # fmt: skip


def fitted(name: str) -> tuple[Any, Any]:
    """A machine or a pipeline, and objects to try it on."""
    kind, _, rest = name.partition(": ")
    return pipelines.fitted(rest) if kind == "pipeline" else samples.fitted(name)


def pristine(name: str) -> bytes:
    if name not in _PRISTINE:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model"
            mercer.save(fitted(name)[0], path)
            _PRISTINE[name] = path.read_bytes()
    return _PRISTINE[name]


_PRISTINE: dict[str, bytes] = {}


# ------------------------------------------------------------------------------------------------------------- bytes


def flip(data: bytes, draw: random.Random) -> bytes:
    damaged = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 8, 64))):
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    return bytes(damaged)


def truncate(data: bytes, draw: random.Random) -> bytes:
    return data[: draw.randrange(len(data))]


def splice(data: bytes, draw: random.Random) -> bytes:
    start, end = sorted(draw.randrange(len(data)) for _ in range(2))
    middle = draw.choice((b"", data[start:end] * 2, draw.randbytes(draw.randrange(200)), b"\0" * (end - start)))
    return data[:start] + middle + data[end:]


def directory(data: bytes, draw: random.Random) -> bytes:
    """Damage where the zip keeps sizes and offsets."""
    damaged = bytearray(data)
    start = data.rindex(b"PK\x05\x06") if draw.random() < 0.3 else data.index(b"PK\x01\x02")
    for _ in range(draw.randrange(1, 5)):
        place = draw.randrange(start, len(damaged))
        damaged[place] = draw.choice((0, 1, 0x7F, 0x80, 0xFF, draw.randrange(256)))
    return bytes(damaged)


def noise(data: bytes, draw: random.Random) -> bytes:
    return draw.choice((b"", b"PK\x05\x06" + b"\0" * 18, draw.randbytes(draw.randrange(3000)), b"PK\x03\x04" * 100))


# ------------------------------------------------------------------------------------------------------------ header


def places(node: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key) inside a header."""
    for key, child in list(node.items() if isinstance(node, dict) else enumerate(node)):
        yield node, key
        if isinstance(child, dict | list):
            yield from places(child)


def hostile_header(data: bytes, draw: random.Random) -> bytes:
    def change(header: dict[str, Any]) -> None:
        for _ in range(draw.choice((1, 1, 1, 2, 3))):
            spots = list(places(header))
            node, key = spots[draw.randrange(len(spots))]
            other, other_key = spots[draw.randrange(len(spots))]
            action = draw.randrange(6)
            if action == 0:
                del node[key]
            elif action == 1 and isinstance(node, dict):
                node[draw.choice(("x", "__class__", "fields", "array", "kernel", "as", "objects"))] = node.pop(key)
            elif action == 2 and isinstance(node, list):
                node.insert(key, copy.deepcopy(node[key]))
            elif action == 3:
                node[key] = copy.deepcopy(other[other_key])
            elif action == 4 and type(node[key]) in (int, float):
                node[key] = draw.choice((-node[key], node[key] + 1, node[key] * 2**40, 0, 10**18))
            else:
                node[key] = copy.deepcopy(draw.choice(WRONG))

    return with_header(data, change)


def hostile_text(data: bytes, draw: random.Random) -> bytes:
    depth = draw.choice((150, 250, 5_000, 400_000))
    texts = (
        b"[" * depth + b"]" * depth,
        b'{"a":' * min(depth, 150_000) + b"1" + b"}" * min(depth, 150_000),
        b'{"format": NaN}', b'{"format": Infinity}', b'{"version": 1e999}', b'{"version": ' + b"9" * 5000 + b"}",
        b'{"format": "mercer model", "format": "mercer model"}', b"", b"null", b"\xff\xfe", b'"' + b'\\"' * 400_000,
        b" " * 2**20 + b"{}", b"[" + b"0," * 300_000 + b"0]",
    )  # fmt: skip
    return with_header(data, lambda header: draw.choice(texts))


# ------------------------------------------------------------------------------------------------------------ arrays


def hostile_array(data: bytes, draw: random.Random) -> bytes:
    """Arrays with other content, types or shapes, described truthfully: only what they mean is wrong."""

    def change(members: dict[str, bytes]) -> None:
        header = json.loads(members["header.json"])
        for _ in range(draw.choice((1, 1, 2))):
            name = draw.choice(sorted(header["members"]))
            array = other_array(np.load(io.BytesIO(members[f"{name}.npy"])), draw)
            member, plain = described(array)
            header["members"][name] = {"dtype": member.dtype, "shape": list(member.shape), "sha256": member.sha256}
            members[f"{name}.npy"] = member.prefix + plain.tobytes()
        members["header.json"] = json.dumps(header).encode()

    return rewritten(data, change)


def other_array(array: np.ndarray, draw: random.Random) -> np.ndarray:
    array = array.copy()
    action = draw.randrange(8)
    if action == 0:
        return array[: len(array) // 2] if array.ndim else array[None]
    if action == 1:
        return array.reshape(draw.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1))))
    if action == 2:
        return np.zeros(draw.choice(((), (0,), (0, 3), (5,), (2, 2))), dtype=array.dtype)
    if action == 3:
        return np.concatenate([array, array]) if array.ndim else np.stack([array, array])
    if action == 4:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            kinds = ("f4", "f8", "i4", "i8", "u1", "u8", "?", "U5")
            return np.zeros(array.shape, dtype=draw.choice(kinds)) if draw.random() < 0.5 else array.astype("U8")
    if array.size and array.dtype.kind in "fiu":
        extremes = (np.nan, np.inf, -np.inf, 1e308, -1) if array.dtype.kind == "f" else (
            [0, np.iinfo(array.dtype).max, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max // 2]
        )  # fmt: skip
        with np.errstate(all="ignore"):
            array.flat[draw.randrange(array.size)] = draw.choice(list(extremes))
    elif array.size and array.dtype.kind == "U":
        array.flat[draw.randrange(array.size)] = draw.choice(("", "Table", "Items", "os", "\0x", "\ud800"))
    return array


def declared_shape(data: bytes, draw: random.Random) -> bytes:
    """Shapes and types that promise far more, or other, than is there."""

    def change(header: dict[str, Any]) -> None:
        entry = header["members"][draw.choice(sorted(header["members"]))]
        huge = ([10**12], [2**40] * 3, [2**62], [0, 2**40, 2**40], [-1], [-(2**63)], [1] * 100, [1.0], ["1"], [True], 5)
        entry["shape"] = draw.choice(huge)
        entry["dtype"] = draw.choice(
            (entry["dtype"], "<f8", "|O", "<M8", "V8", "<U99999999", "<U9999999", ">f8", "<c16", 3)
        )

    return with_header(data, change)


# --------------------------------------------------------------------------------------------------------- container


def hostile_zip(data: bytes, draw: random.Random) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    action = draw.randrange(7)
    kind = zipfile.ZIP_STORED
    if action == 0:  # a bomb: a few kilobytes that unpack to a hundred megabytes
        kind = zipfile.ZIP_DEFLATED
        members.append(("bomb.npy", b"\0" * 100_000_000))
    elif action == 1:
        members.append((draw.choice(("../../evil", "/etc/x", "C:\\x", "x\0y", "", "a" * 60_000)), b"x"))
    elif action == 2:
        members.append(draw.choice(members))
    elif action == 3:
        members.pop(draw.randrange(len(members)))
    elif action == 4:
        members += [(f"x{number}.npy", b"") for number in range(draw.choice((50, 11_000)))]
    elif action == 5:
        return data[: data.index(b"PK\x01\x02")] + zip_end(
            1, draw.choice((0, 46, 2**31)), draw.choice((0, 100, 2**32 - 1))
        )
    else:
        members.append(("object.npy", npy(np.zeros(3)).replace(b"<f8", b"|O ")))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of names that occur twice
        for name, content in members:
            archive.writestr(zipfile.ZipInfo(name or "-"), content, kind)
    return out.getvalue()


ATTACKS: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip, truncate, splice, directory, noise, hostile_header, hostile_header, hostile_header, hostile_array,
    hostile_array, hostile_array, declared_shape, hostile_text, hostile_zip,
)  # fmt: skip


def case(seed: int) -> tuple[str, str, bytes]:
    """The attack, the model and the file of one seed."""
    draw = random.Random(seed)
    attack, name = ATTACKS[seed % len(ATTACKS)], draw.choice(MODELS if draw.random() < 0.5 else MACHINES)
    return attack.__name__, name, attack(pristine(name), draw)


def run(seed: int, path: Path) -> str:
    """'refused', 'loaded', or an exception that should not be. A model that loads must predict, or say why not."""
    attack, name, data = case(seed)
    path.write_bytes(data)
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = mercer.load(path)
        except ModelFileError:
            outcome = "refused"
        else:
            outcome = "loaded"
            try:
                model.predict(fitted(name)[1])
            except (MercerError, ValueError):
                outcome = "loaded, but other objects are needed"
    if time.monotonic() - began > SLOWEST:
        raise AssertionError(f"seed {seed}: {attack} on {name} took {time.monotonic() - began:.0f} s")
    return f"{attack}: {outcome}"


def main(n_cases: int = 10_000, first: int = 0) -> Counter[str]:
    """Run many cases; raises at the first that is answered by anything but a model or a ModelFileError."""
    outcomes: Counter[str] = Counter()
    for name in MODELS:
        fitted(name)[0].predict(fitted(name)[1])
        pristine(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        for seed in range(first, first + n_cases):
            try:
                outcomes[run(seed, path)] += 1
            except BaseException as error:
                error.add_note(f"seed {seed}: {case(seed)[:2]}")
                raise
    return outcomes


def memory_of(seed: int, path: Path) -> int:
    """The peak of memory that loading takes, beyond what was there before."""
    path.write_bytes(case(seed)[2])
    tracemalloc.start()
    try:
        mercer.load(path)
    except ModelFileError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


if __name__ == "__main__":
    for outcome, count in sorted(main(*map(int, sys.argv[1:])).items()):
        sys.stdout.write(f"{count:6d}  {outcome}\n")
