"""Pages of the commands: what each does, when to use it, a run with its real output, and all options."""

import contextlib
import functools
import io
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from uses import COMMANDS as USES

from mercer.cli.app import run
from mercer.cli.commands import COMMANDS
from mercer.datasets import make_dna

RUNS: dict[str, tuple[str, ...]] = {
    "fit": ("mercer fit pets.csv --target pet --folds 3",),
    "predict": ("mercer predict model.mercer new.csv --reasons 2",),
    "evaluate": ("mercer evaluate model.mercer pets.csv",),
    "compare": ('mercer compare pets.csv --target pet -k linear -k "rbf(gamma=0.5)" -k "rbf(gamma=100)"',),
    "diagnose": ('mercer diagnose pets.csv --target pet --kernel "rbf(gamma=1000)"',),
    "check": ("mercer check pets.csv --target pet", 'mercer check "rbf(gamma=0.1) * linear"'),
    "info": ("mercer info model.mercer",),
    "convert": ("mercer convert numbers.mercer numbers.libsvm",),
    "kernels": ("mercer kernels spectrum", 'mercer kernels "rbf(gamma=0.1) + 0.5*linear"'),
}
"""Run when the site is built. Those that are missing never end, or take a minute."""
PREPARED = ("mercer fit numbers.npz --kernel rbf --no-report --no-scale -q -o numbers.mercer",)


def pages() -> dict[str, str]:
    """A page for each command, by name."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_files()
        for line in PREPARED:
            _output(line)
        return {command.__name__: _page(command.__name__) for command in COMMANDS}


def _page(name: str) -> str:
    title = f"mercer {name}"
    usage, paragraphs, examples, sections = _parts(_output(f"mercer {name} --help"))
    cost, when = USES[name]
    shown = "".join(_block("console", f"$ {line}\n{_output(line)}") for line in RUNS.get(name, ()))
    text = "\n\n".join(_plain(paragraph) for paragraph in paragraphs)
    return (
        f"{title}\n{'=' * len(title)}\n\n{text}\n\n:When to use: {_plain(when)}\n:Cost: {_plain(cost)}\n\n"
        f"{_block('text', usage)}\n{_heading('Examples')}{_block('console', examples)}\n"
        + (f"What it prints:\n\n{shown}\n" if shown else "")
        + "".join(f"{_heading(head)}{_listed(rows)}\n" for head, rows in sections.items())
    )


def _parts(told: str) -> tuple[str, list[str], str, dict[str, list[tuple[str, str]]]]:
    """The help text of a command, taken apart: usage, paragraphs, examples, and the rows of its lists."""
    usage, _, rest = told.partition("\n\n")
    body, *lists = re.split(r"^(?=\w+:$)", rest, flags=re.MULTILINE)
    text, _, examples = body.partition("  Examples:\n")
    paragraphs = [_joined(part.splitlines()) for part in text.split("\n\n") if part.strip()]
    lines = "".join(f"$ {line.strip()}\n" for line in examples.splitlines() if line.strip())
    return usage, paragraphs, lines, {one.split(":", 1)[0]: list(_rows(one)) for one in lists}


def _rows(block: str) -> Iterator[tuple[str, str]]:
    """The lines of a list, each with those that go on with it."""
    name, parts = "", []
    for line in block.splitlines()[1:]:
        found = re.match(r"  (?P<name>\S.*?)(?:  +(?P<text>\S.*))?$", line)
        if found and not line.startswith("    "):
            if name:
                yield name, _joined(parts)
            name, parts = found["name"], [found["text"] or ""]
        else:
            parts.append(line.strip())
    if name:
        yield name, _joined(parts)


def _joined(lines: list[str]) -> str:
    """Lines of a paragraph as one; a word that was broken at its hyphen becomes whole."""
    return re.sub(r"(?<=\w)- (?=[a-z])", "-", " ".join(" ".join(lines).split()))


def _listed(rows: list[tuple[str, str]]) -> str:
    body = "".join(f"   * - ``{name}``\n     - {_plain(text)}\n" for name, text in rows)
    return f".. list-table::\n   :class: parameters\n   :widths: 35 65\n\n{body}"


def _heading(title: str) -> str:
    return f"{title}\n{'-' * len(title)}\n\n"


def _block(language: str, text: str) -> str:
    body = "".join(f"   {line}\n" if line.strip() else "\n" for line in text.splitlines())
    return f".. code-block:: {language}\n\n{body}\n"


def _plain(text: str) -> str:
    """Words of the help in the markup of Sphinx: backticks are code, everything else means itself."""
    pieces = re.split(r"(`[^`]+`)", text)
    pieces[::2] = [re.sub(r"([|*_\\])", r"\\\1", piece) for piece in pieces[::2]]
    return "".join(f"`{piece}`" if piece.startswith("`") else piece for piece in pieces)


@functools.cache
def _output(line: str) -> str:
    """What a command prints; one that fails ends the build."""
    with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(io.StringIO()) as notes:
        code = run(shlex.split(line)[1:])
    if code:
        raise RuntimeError(f"{line} ended with {code}: {notes.getvalue()}")
    return re.sub(r"\x1b\[[0-9;]*m", "", told.getvalue())


def _write_files() -> None:
    """The files that the examples read: a table, new rows of it, sequences, and plain numbers."""
    random = np.random.default_rng(0)
    rows = []
    for number in range(120):
        pet = ("cat", "dog", "hamster")[number % 3]
        mass = float(np.exp(random.normal({"cat": 1.4, "dog": 2.1, "hamster": -2.0}[pet], 0.4)))
        colour = str(random.choice(["black", "grey", "white"], p=[0.7, 0.2, 0.1] if pet == "cat" else [0.1, 0.3, 0.6]))
        rows.append(f"{mass:.1f},{colour},{pet}\n")
    Path("pets.csv").write_text("mass,colour,pet\n" + "".join(rows), encoding="utf-8")
    Path("new.csv").write_text("mass,colour\n4.1,black\n9.5,white\n300,grey\n", encoding="utf-8")
    sequences, labels = make_dna(60, random_state=0)
    Path("sequences.fa").write_text(
        "".join(
            f">{number} label={label}\n{text}\n"
            for number, (text, label) in enumerate(zip(sequences, labels, strict=True))
        ),
        encoding="utf-8",
    )
    X = random.normal(size=(80, 3))
    np.savez("numbers.npz", X=X, y=np.where(X[:, 0] * X[:, 1] > 0, 1, -1))
