"""What kernels are called in a report: words for readers who have never written one."""

from __future__ import annotations

import re
from collections.abc import Callable

from mercer.jobs.candidates import short_text
from mercer.jobs.preparation import Preparation
from mercer.kernels.base import Kernel

_TERM = re.compile(r"(\d[\d.e-]*\*)?\(*[a-z_]+\(.*\)[)*\d]*", re.DOTALL)
"""The text of a kernel, unlike the names of columns."""
_CALL = re.compile(r"([A-Za-z_]\w*)\((.*)\)", re.DOTALL)
_NAMES: dict[str, Callable[[dict[str, str]], str]] = {
    "linear": lambda given: "linear",
    "rbf": lambda given: _gaussian(given),
    "laplacian": lambda given: f"Laplacian (gamma {given.get('gamma', 'scale')})",
    "poly": lambda given: f"polynomial of degree {given.get('degree', '3')}",
    "categorical": lambda given: "same or different",
    "spectrum": lambda given: f"substrings of {given.get('p', '3')}",
    "blended_spectrum": lambda given: f"substrings of up to {given.get('p', '3')}",
    "mismatch": lambda given: f"substrings of {given.get('p', '3')} with {given.get('m', '1')} mismatch",
    "weighted_degree": lambda given: f"substrings by place, up to {given.get('degree', '3')}",
    "wl": lambda given: f"neighbourhoods of {given.get('h', '3')} steps (Weisfeiler-Lehman)",
    "wl_optimal_assignment": lambda given: f"best matching of neighbourhoods, {given.get('h', '3')} steps",
    "vertex_histogram": lambda given: "counts of nodes",
    "shortest_path": lambda given: "shortest paths",
    "tanimoto": lambda given: "Tanimoto",
    "min_max": lambda given: "MinMax",
    "subtree": lambda given: "whole subtrees",
    "subset_tree": lambda given: f"parts of trees (decay {given.get('decay', '1')})",
    "partial_tree": lambda given: "partial trees",
    "vector_space": lambda given: _words(given),
    "precomputed": lambda given: "the matrix as given",
}
"""Words for the kernels that are tried by default; the others keep their own text."""
_READ_AS = {"smiles": "as graphs", "morgan": "by fingerprints", "morgan_counts": "by counted fingerprints"}


def kernel_name(kernel: Kernel, preparation: Preparation) -> str:
    """A kernel in words where there are some: "Gaussian (gamma 0.17) on 6 numbers + same or different on colour"."""
    return named(short_text(kernel, preparation))


def part_name(part: str, preparation: Preparation) -> str:
    """What a part of a decision is called: columns by their names, terms of a kernel in words."""
    return named(short_text(part, preparation)) if _TERM.match(part) else part


def named(text: str) -> str:
    """The same, for the text of a kernel."""
    for sign, shown in ((" + ", " + "), ("*", " \N{MULTIPLICATION SIGN} ")):
        parts = _split(text, sign)
        if len(parts) > 1:
            return shown.join(named(part.strip()) for part in parts)
    base, _, power = text.rpartition("**")
    if base and power.isdigit():
        inside = named(base)
        return f"{inside if inside.startswith('(') else f'({inside})'} to the power of {power}"
    if text.startswith("(") and text.endswith(")"):  # around all of it, since nothing splits it
        return f"({named(text[1:-1])})"
    match = _CALL.fullmatch(text.strip())
    return text if match is None else _called(match, text)


def _called(match: re.Match[str], text: str) -> str:
    """The name of one kernel with its parameters."""
    name, inside = match.groups()
    arguments = _split(inside, ", ")
    if name == "normalise":
        return named(arguments[0])
    if name == "on" and len(arguments) >= 2:
        reading = arguments[2].partition("=")[2].strip("'\"") if len(arguments) > 2 else ""
        where = _listed(arguments[0])
        return f"{named(arguments[1])} on {where}" + (f" {_READ_AS.get(reading, reading)}" if reading else "")
    words = _NAMES.get(name)
    given = dict(one.partition("=")[::2] for one in arguments if "=" in one)
    return text if words is None else words(given)


def _listed(columns: str) -> str:
    """The columns of a term: "size", "size and weight", "4 numbers"."""
    names = [name.strip("'\"") for name in _split(columns.removeprefix("[").removesuffix("]"), ", ")]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _gaussian(given: dict[str, str]) -> str:
    gamma = given.get("gamma", "scale")
    width = "a width for each" if gamma == "one of each" or gamma.startswith("(") else f"gamma {gamma}"
    return f"{'same or different' if given.get('over') == 'categorical()' else 'Gaussian'} ({width})"


def _words(given: dict[str, str]) -> str:
    longest = given.get("ngrams", "(1, 1)").strip("()").split(",")[-1].strip()
    if "char" in given.get("analyzer", ""):
        return f"parts of words of up to {longest} letters (tf-idf)"
    return "words (tf-idf)" if longest == "1" else f"words and phrases of up to {longest} (tf-idf)"


def _split(text: str, at: str) -> list[str]:
    """Parts of a text between separators that are outside of brackets and quotes."""
    parts, depth, quote, start, place = [], 0, "", 0, 0
    while place < len(text):
        mark = text[place]
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            quote = mark
        elif mark in "([":
            depth += 1
        elif mark in ")]":
            depth -= 1
        elif depth == 0 and text.startswith("**", place):
            place += 1  # a power, which binds closer than a product
        elif depth == 0 and text.startswith(at, place):
            parts.append(text[start:place])
            place += len(at) - 1
            start = place + 1
        place += 1
    return [*parts, text[start:]]
