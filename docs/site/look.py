"""How pictures of the gallery look: the colours of the library's displays, axes that fit, no frame without need."""

from typing import Any

import matplotlib as mpl

from mercer.plots.style import COLOURS, SEQUENTIAL

LOOK = {
    "axes.prop_cycle": mpl.cycler(color=COLOURS),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": "medium",
    "figure.constrained_layout.use": True,
    "figure.dpi": 100,
    "font.size": 10.0,
    "image.cmap": SEQUENTIAL,
    "legend.fontsize": "small",
    "legend.framealpha": 0.9,
    "savefig.dpi": 140,
}


def apply(gallery: Any, name: str) -> None:
    """Called by sphinx-gallery before each example."""
    mpl.rcParams.update(LOOK)
