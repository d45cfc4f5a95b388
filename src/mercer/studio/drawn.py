"""Objects with a shape, as a page draws them: nodes with positions and bonds, or parents of tree nodes."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mercer.errors import MercerError
from mercer.inputs.graphs import Graphs
from mercer.plots.layout import layout

MOST_NODES = 120
"""The most nodes in a drawing: with more, nothing is legible."""
_ELEMENTS = {1: "H", 5: "B", 6: "C", 7: "N", 8: "O", 9: "F", 14: "Si", 15: "P", 16: "S", 17: "Cl", 35: "Br", 53: "I"}
"""Nodes are taken for atoms if they have no labels but these."""
_AROMATIC = 12
"""The label of an aromatic bond, as RDKit numbers them."""
_PART = re.compile(r"\(|\)|[^\s()]+")


def graph(edges: Sequence[Sequence[int]], labels: Sequence[str]) -> dict[str, Any] | None:
    """A graph whose nodes are placed by the number of steps between them."""
    n = len(labels)
    if n > MOST_NODES:
        return None
    adjacency = np.zeros((n, n))
    for a, b in edges:
        adjacency[a, b] = adjacency[b, a] = 1.0
    bonds = [[int(a), int(b), 1] for a, b in edges]
    return _placed("graph", layout(adjacency), bonds, labels)


def graph_of(graphs: Graphs, row: int) -> dict[str, Any] | None:
    """One graph of a batch. Labels that were words are left out, because only their codes are known."""
    if int(graphs.sizes[row]) > MOST_NODES:
        return None
    adjacency = graphs.adjacency(row)
    edges = [(int(a), int(b)) for a, b in np.argwhere(np.triu(adjacency + adjacency.T)) if a != b]
    own = graphs.take(slice(row, row + 1)).labels
    codes = [] if own is None else own.tolist()
    if codes and all(code in _ELEMENTS for code in codes):
        names = [_ELEMENTS[code] for code in codes]
    else:
        names = [str(code) if abs(code) < 1000 else "" for code in codes] or [""] * len(adjacency)
    return graph(edges, names)


def molecule(smiles: str) -> dict[str, Any] | None:
    """A molecule as chemists draw it; None where it cannot be read, or RDKit is not installed."""
    read = _molecule(smiles)
    return None if read is None else read[0]


def molecule_as_graph(smiles: str) -> dict[str, Any]:
    """The labelled graph of a molecule, with the symbols of its elements, which kernels on graphs compare."""
    from mercer.inputs.molecules import parsed_molecules

    one = parsed_molecules([smiles])[0][0]
    return {
        "edges": [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in one.GetBonds()],
        "labels": [atom.GetSymbol() for atom in one.GetAtoms()],
        "edge_labels": [int(bond.GetBondType()) for bond in one.GetBonds()],
    }


def without_atoms(smiles: str) -> list[str]:
    """The molecule with each of its atoms in turn replaced by one of no element."""
    read = _molecule(smiles)
    if read is None:
        return []
    from rdkit import Chem

    found = []
    for place in range(read[1].GetNumAtoms()):
        changed = Chem.RWMol(read[1])
        changed.GetAtomWithIdx(place).SetAtomicNum(0)
        changed.GetAtomWithIdx(place).SetNoImplicit(True)
        found.append(Chem.MolToSmiles(changed, canonical=False))
    return found


@functools.lru_cache(maxsize=500)
def _molecule(smiles: str) -> tuple[dict[str, Any], Any] | None:
    try:
        from rdkit.Chem import rdDepictor

        from mercer.inputs.molecules import parsed_molecules

        one = parsed_molecules([smiles])[0][0]
    except (ImportError, MercerError):
        return None
    if one.GetNumAtoms() > MOST_NODES:
        return None
    rdDepictor.Compute2DCoords(one)
    bonds = [[b.GetBeginAtomIdx(), b.GetEndAtomIdx(), int(b.GetBondType())] for b in one.GetBonds()]
    names = [atom.GetSymbol() + {0: "", 1: "+", -1: "−"}.get(atom.GetFormalCharge(), "±") for atom in one.GetAtoms()]
    places = one.GetConformer().GetPositions()[:, :2] / 1.5  # RDKit's bonds are 1.5 long
    return _placed("molecule", places, bonds, names), one


def _placed(kind: str, places: Any, bonds: list[list[int]], names: Sequence[str]) -> dict[str, Any]:
    bonds = [[a, b, order if order in (1, 2, 3, _AROMATIC) else 1] for a, b, order in bonds]
    return {"kind": kind, "places": np.round(places, 3).tolist(), "bonds": bonds, "labels": list(names)}


def tree(text: str) -> dict[str, Any] | None:
    """Labels and parents of the nodes of a bracketed tree, children before their parent."""
    labels: list[str] = []
    parents: dict[int, int] = {}
    stack: list[tuple[str, list[int]]] = []
    words = _PART.findall(text)
    for place, word in enumerate(words):
        if word == "(":
            following = words[place + 1] if place + 1 < len(words) else ""
            stack.append(("" if following in "()" else following, []))
        elif word == ")" and stack:
            label, children = stack.pop()
            labels.append(label)
            parents |= dict.fromkeys(children, len(labels) - 1)
            if stack:
                stack[-1][1].append(len(labels) - 1)
        elif word != ")" and (not place or words[place - 1] != "("):
            labels.append(word)
            if stack:
                stack[-1][1].append(len(labels) - 1)
    if len(labels) > MOST_NODES:
        return None
    return {"kind": "tree", "labels": labels, "parents": [parents.get(node, -1) for node in range(len(labels))]}


def without_labels(text: str, unknown: str) -> list[str]:
    """A bracketed tree with the label of one node unknown, for each node in the order of `tree`."""
    words = _PART.findall(text)
    order: list[int] = []
    stack: list[int] = []
    for place, word in enumerate(words):
        if word == "(":
            stack.append(place + 1)
        elif word == ")" and stack:
            order.append(stack.pop())
        elif word != ")" and (not place or words[place - 1] != "("):
            order.append(place)
    return [" ".join([*words[:place], unknown, *words[place + 1 :]]) for place in order]
