"""Which nodes of a graph, or atoms of a molecule, support a decision, and which oppose it."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from mercer.errors import InputError
from mercer.inputs.graphs import Graphs
from mercer.plots import style
from mercer.plots.layout import layout

_ATOMS = {1: "H", 5: "B", 6: "C", 7: "N", 8: "O", 9: "F", 14: "Si", 15: "P", 16: "S", 17: "Cl", 35: "Br", 53: "I"}


class GraphExplanationDisplay(style.Contributions):
    """The graph with each node coloured by its contribution to the decision value; its size shows the amount, + and -
    the sign.

    >>> from mercer import SVC, kernels
    >>> from mercer.plots import GraphExplanationDisplay
    >>> graphs = [[(0, 1), (1, 2)], [(0, 1)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 0)]]
    >>> model = SVC(kernel=kernels.WeisfeilerLehman(1), C=10.0).fit(graphs, [0, 0, 1, 1])
    >>> GraphExplanationDisplay.from_estimator(model, graphs[2]).contributions.shape
    (3,)
    """

    def __init__(
        self, adjacency: Any, contributions: Any, *, intercept: float, labels: Any = None, positions: Any = None
    ) -> None:
        self.adjacency = np.asarray(adjacency, dtype=np.float64)
        self.contributions = np.asarray(contributions, dtype=np.float64)
        self.intercept = float(intercept)
        self.labels = None if labels is None else [str(label) for label in labels]
        self.positions = layout(self.adjacency) if positions is None else np.asarray(positions, dtype=np.float64)
        n = len(self.adjacency)
        if (
            self.contributions.shape != (n,)
            or self.positions.shape != (n, 2)
            or (labels is not None and len(labels) != n)
        ):
            raise InputError(f"{n} nodes need as many contributions, labels and positions.")

    @classmethod
    def from_estimator(
        cls, estimator: Any, graph: Any, *, labels: Any = None, positions: Any = None, output: int = 0, ax: Any = None
    ) -> Self:
        """One graph under a fitted machine that can `explain` it; `labels` and `positions` are one per node."""
        graphs = graph if isinstance(graph, Graphs) else Graphs.coerce([graph])
        if len(graphs) != 1:
            raise InputError(f"GraphExplanationDisplay explains one graph; got {len(graphs)}.")
        shares, intercept = style.explained(cls.__name__, estimator.explain(graphs, by="features")[0], output)
        if labels is None and graphs.labels is not None and np.isin(graphs.labels, list(_ATOMS)).all():
            labels = [_ATOMS[int(code)] for code in graphs.labels]
        made = cls(graphs.adjacency(0), shares, intercept=intercept, labels=labels, positions=positions)
        return made.plot(ax=ax)

    @classmethod
    def from_smiles(cls, estimator: Any, smiles: str, *, output: int = 0, ax: Any = None) -> Self:
        """One molecule under a machine on molecular graphs; atoms are placed as chemists draw them."""
        from mercer.inputs.molecules import molecular_graphs, parsed_molecules

        molecule = parsed_molecules([smiles])[0][0]
        from rdkit.Chem import rdDepictor

        rdDepictor.Compute2DCoords(molecule)
        positions = molecule.GetConformer().GetPositions()[:, :2]
        symbols = [atom.GetSymbol() for atom in molecule.GetAtoms()]
        return cls.from_estimator(
            estimator, molecular_graphs([smiles]), labels=symbols, positions=positions, output=output, ax=ax
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `nodes_` are the marks, `texts_` the text in them."""
        ax = style.axes(ax, size=(6.2, 5.0))
        rows, columns = np.nonzero(np.triu(self.adjacency + self.adjacency.T))
        for i, j in zip(rows, columns, strict=True):
            ax.plot(*self.positions[[i, j]].T, color="#555555", linewidth=1.6, zorder=1)
        limit = max(float(np.abs(self.contributions).max(initial=0.0)), 1e-12)
        sizes = 260 + 640 * np.abs(self.contributions) / limit
        self.nodes_ = ax.scatter(*self.positions.T, c=self.contributions, cmap=style.DIVERGING, vmin=-limit, vmax=limit,
                                 s=sizes, edgecolor="black", linewidth=1.0, zorder=2)  # fmt: skip
        self.texts_ = []
        for number, (place, value) in enumerate(zip(self.positions, self.contributions, strict=True)):
            sign = "+" if value > 0.05 * limit else "−" if value < -0.05 * limit else ""
            name = str(number) if self.labels is None else self.labels[number]
            dark = abs(value) > 0.6 * limit
            self.texts_.append(ax.text(*place, f"{name}{sign}", ha="center", va="center", fontsize="small", zorder=3,
                                       color="white" if dark else "black"))  # fmt: skip
        ax.figure.colorbar(self.nodes_, ax=ax, label="contribution to f(x)", shrink=0.8)
        ax.set_aspect("equal")
        reach = np.ptp(self.positions, axis=0) / 2
        middle = self.positions.min(axis=0) + reach
        reach = np.maximum(1.15 * reach + 0.4, 0.45 * reach.max())  # a path still leaves room for its nodes
        ax.set_xlim(middle[0] - reach[0], middle[0] + reach[0])
        ax.set_ylim(middle[1] - reach[1], middle[1] + reach[1])
        ax.set_axis_off()
        ax.set_title(
            f"f(x) = {self.value:.4g}: nodes {self.contributions.sum():+.4g}, b {style.signed(self.intercept, limit)}"
        )
        self.ax_, self.figure_ = ax, ax.figure
        return self
