"""Small files of every kind, to try the workbench with."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mercer.datasets import make_dna, make_graphs, make_mixed
from mercer.studio import fields

_OBJECTS = 160
"""Objects in a sample: few enough for a search to take seconds."""


def _table() -> str:
    rng = np.random.default_rng(1)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["height", "mass", "colour", "tail", "pet"])
    for number in range(_OBJECTS):
        cat = number % 2 == 0
        mass = rng.normal(4.5, 1.0) if cat else rng.normal(17.0, 7.0)
        height = rng.normal(25, 3) if cat else rng.normal(46, 10)
        colour = str(rng.choice(["black", "white", "tabby"] if cat else ["black", "white", "brown"]))
        tail = round(float(rng.normal(26 if cat else 30, 5)), 1)
        writer.writerow([f"{height:.1f}", f"{max(mass, 1.5):.2f}", colour, tail, "cat" if cat else "dog"])
    return text.getvalue()


def _numbers() -> str:
    rng = np.random.default_rng(2)
    lines = ["hour,temperature,wind,demand"]
    for _ in range(_OBJECTS):
        hour, temperature, wind = rng.uniform(0, 24), rng.normal(14, 7), rng.gamma(2.0, 3.0)
        demand = 40 + 9 * np.sin((hour - 8) / 24 * 2 * np.pi) + 0.06 * (temperature - 18) ** 2 + 0.3 * wind
        lines.append(f"{hour:.2f},{temperature:.1f},{wind:.1f},{demand + rng.normal(0, 1.0):.2f}")
    return "\n".join(lines) + "\n"


def _mixed() -> str:
    table, labels = make_mixed(_OBJECTS, random_state=3)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*table, "state"])
    for row, label in zip(zip(*table.values(), strict=True), labels, strict=True):
        writer.writerow([*(one if isinstance(one, str) else f"{one:.3f}" for one in row), label])
    return text.getvalue()


def _dna() -> str:
    strings, labels = make_dna(_OBJECTS, random_state=4)
    return "".join(
        f">s{place} label={label}\n{one}\n" for place, (one, label) in enumerate(zip(strings, labels, strict=True), 1)
    )


def _text() -> str:
    rng = np.random.default_rng(5)
    words = {
        "sea": ["wave", "tide", "harbour", "salt", "gull", "anchor", "sail", "storm", "deck", "shore"],
        "mountain": ["ridge", "snow", "summit", "rope", "glacier", "valley", "pine", "stone", "trail", "cliff"],
    }
    common = ["we", "saw", "the", "a", "morning", "light", "under", "over", "slowly", "and", "then", "again", "far"]
    lines = []
    for number in range(_OBJECTS):
        label = ("sea", "mountain")[number % 2]
        other = ("mountain", "sea")[number % 2]
        chosen = [*rng.choice(words[label], 4), *rng.choice(words[other], 1), *rng.choice(common, 7)]
        rng.shuffle(chosen)
        lines.append(f"{label}\t{' '.join(map(str, chosen))}")
    return "\n".join(lines) + "\n"


def _graphs() -> str:
    graphs, labels = make_graphs(_OBJECTS, random_state=6)
    lines = []
    for graph, label in zip(graphs, labels, strict=True):
        nodes = [{"id": place, "label": str(kind)} for place, kind in enumerate(graph["labels"])]
        links = [[int(a), int(b)] for a, b in graph["edges"]]
        lines.append(json.dumps({"nodes": nodes, "links": links, "label": str(label)}))
    return "\n".join(lines) + "\n"


def _molecules() -> str:
    """Small molecules with one or two functional groups: acids, amines and alcohols on chains and rings."""
    rng = np.random.default_rng(8)
    groups = {"acid": "C(=O)O", "amine": "N", "alcohol": "O"}
    lines: dict[str, str] = {}
    while len(lines) < _OBJECTS:
        label = str(rng.choice(list(groups)))
        chain = "C" * int(rng.integers(1, 7))
        if rng.random() < 0.4:
            chain += str(rng.choice(["(C)C", "(CC)C", "C(C)(C)C", "(Cl)C", "(F)C"]))
        ring = str(rng.choice(["", "c1ccccc1", "C1CCCCC1", "c1ccc(F)cc1", "c1ccc(C)cc1"]))
        lines.setdefault(f"{ring}{chain}{groups[label]}", label)
    return "".join(f"{smiles} {label}\n" for smiles, label in lines.items())


def _trees() -> str:
    rng = np.random.default_rng(7)
    nouns, verbs = ["dog", "cat", "child", "bird"], ["sees", "hears", "likes"]
    lines = []
    for number in range(_OBJECTS):
        subject, thing, verb = rng.choice(nouns), rng.choice(nouns), rng.choice(verbs)
        adjective = f" (JJ {rng.choice(['old', 'small', 'red'])})" if rng.random() < 0.5 else ""
        active = f"(S (NP (DT the){adjective} (NN {subject})) (VP (VBZ {verb}) (NP (DT a) (NN {thing}))))"
        asked = (
            f"(SQ (VBZ does) (NP (DT the){adjective} (NN {subject})) (VP (VB {verb[:-1]}) (NP (DT a) (NN {thing}))))"
        )
        lines.append(f"statement\t{active}" if number % 2 else f"question\t{asked}")
    return "\n".join(lines) + "\n"


def _sparse() -> str:
    """Pictures of 8 by 8 dots, crosses or circles, somewhere near the middle; white dots are left out."""
    rng = np.random.default_rng(9)
    rows, columns = np.mgrid[0:8, 0:8]
    lines = []
    for number in range(_OBJECTS):
        top, left, size = rng.uniform(3, 4), rng.uniform(3, 4), rng.uniform(2.2, 3.0)
        away = np.hypot(rows - top, columns - left)
        if number % 2:
            ink = np.exp(-((away - size) ** 2) / 0.4)
        else:
            across = np.minimum(np.abs(rows - top - columns + left), np.abs(rows - top + columns - left))
            ink = np.exp(-(across**2) / 0.6) * (away < size + 0.8)
        ink = np.clip(ink + rng.normal(0, 0.35, ink.shape), 0, 1).ravel()
        dots = " ".join(f"{place + 1}:{ink[place]:.2f}" for place in np.flatnonzero(ink > 0.3))
        lines.append(f"{('cross', 'circle')[number % 2]} {dots}")
    return "\n".join(lines) + "\n"


def _gram() -> bytes:
    """How alike the leaves of three trees are: nothing else is known about them."""
    rng = np.random.default_rng(10)
    family = np.arange(_OBJECTS) % 3
    places = rng.normal(size=(3, 4))[family] + 0.75 * rng.normal(size=(_OBJECTS, 4))
    K = np.exp(-0.35 * ((places[:, None] - places) ** 2).sum(-1))
    content = io.BytesIO()
    names = np.array(["oak", "elm", "ash"])[family]
    np.savez(content, K=K.round(4), y=names, ids=np.array([f"leaf {number}" for number in range(1, _OBJECTS + 1)]))
    return content.getvalue()


SAMPLES: Mapping[str, tuple[str, Callable[[], str | bytes]]] = {
    "pets": ("pets.csv", _table),
    "demand": ("demand.csv", _numbers),
    "binding": ("binding.csv", _mixed),
    "promoters": ("promoters.fasta", _dna),
    "postcards": ("postcards.txt", _text),
    "molecules": ("molecules.smi", _molecules),
    "rings": ("rings.jsonl", _graphs),
    "sentences": ("sentences.trees", _trees),
    "pictures": ("pictures.svm", _sparse),
    "similarities": ("leaves.npz", _gram),
}
"""By name: the file, and what writes it."""


def write_sample(told: Mapping[str, Any]) -> bool:
    """Write a sample where the server wants it."""
    name = fields.choice(told, "name", tuple(SAMPLES))
    content = SAMPLES[name][1]()
    Path(str(told["path"])).write_bytes(content if isinstance(content, bytes) else content.encode())
    return True
