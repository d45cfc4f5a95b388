"""Records fingerprints, and compares two exact records.

python -m tests.fingerprints.record                    writes fingerprints.json anew
python -m tests.fingerprints.record --models           writes the model files that are missing
python -m tests.fingerprints.record --exact FILE       writes every number to the last bit
python -m tests.fingerprints.record --compare A B      says what differs between two exact records, and by how much
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from tests.fingerprints import stored
from tests.fingerprints.cases import CASES
from tests.fingerprints.measure import Fingerprint

HERE = Path(__file__).parent
STORED = HERE / "fingerprints.json"
DIGITS = 6


def rounded(found: Fingerprint) -> Fingerprint:
    """What is stored: six digits, and nothing that is only compared exactly."""
    return {
        key: value if isinstance(value, str) else [_short(number) for number in value]
        for key, value in sorted(found.items())
        if not key.startswith("~")
    }


def _short(number: float) -> float:
    short = float(f"{number:.{DIGITS}g}")
    return int(short) if short.is_integer() and abs(short) < 10**DIGITS else short


def exact(found: Fingerprint) -> dict[str, str | list[str]]:
    return {
        key: value if isinstance(value, str) else [float(number).hex() for number in value]
        for key, value in sorted(found.items())
    }


def write_lines(path: Path, table: dict[str, object]) -> None:
    """JSON with one case per line, so that a change of one case is a change of one line."""
    lines = (f"{json.dumps(name)}:{json.dumps(table[name], separators=(',', ':'))}" for name in sorted(table))
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def differences(one: Path, other: Path) -> list[str]:
    """A line for every case that differs, with the largest difference relative to the largest number of its array."""
    left, right = (json.loads(path.read_text(encoding="utf-8")) for path in (one, other))
    lines = [f"only in {one}: {name}" for name in sorted(left.keys() - right.keys())]
    lines += [f"only in {other}: {name}" for name in sorted(right.keys() - left.keys())]
    for name in sorted(left.keys() & right.keys()):
        changed = [
            f"{key} {_distance(left[name].get(key), right[name].get(key))}"
            for key in sorted(left[name].keys() | right[name].keys())
            if left[name].get(key) != right[name].get(key)
        ]
        if changed:
            lines.append(f"{name}: {'; '.join(changed)}")
    return lines


def _distance(one: list[str] | str | None, other: list[str] | str | None) -> str:
    if not isinstance(one, list) or not isinstance(other, list) or len(one) != len(other):
        return "(another text)" if isinstance(one, str) and isinstance(other, str) else "(another shape)"
    a, b = (np.array([float.fromhex(number) for number in side]) for side in (one, other))
    with np.errstate(all="ignore"):
        return f"{np.nanmax(np.abs(a - b)) / max(np.nanmax(np.abs(a)), 1e-300):.1e}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fingerprints.record")
    parser.add_argument("--exact", type=Path, metavar="FILE", help="write every number to the last bit")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("A", "B"), help="compare two exact records")
    parser.add_argument("--models", action="store_true", help="write the model files that are missing")
    chosen = parser.parse_args(arguments)
    if chosen.models:
        stored.write_missing()
        return 0
    if chosen.compare:
        lines = differences(*chosen.compare)
        sys.stdout.write("".join(f"{line}\n" for line in lines) or "no differences\n")
        return 1 if lines else 0
    if chosen.exact:
        write_lines(chosen.exact, {name: exact(run()) for name, run in CASES.items()})
        return 0
    write_lines(STORED, {name: rounded(run()) for name, run in CASES.items()})
    return 0


if __name__ == "__main__":
    sys.exit(main())
