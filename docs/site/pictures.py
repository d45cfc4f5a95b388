"""The order of the gallery, and its pictures in other pages.

A page names a picture of the gallery in a comment, `<!-- picture: 2_trick/xor 1 | what is seen -->`. Readers of the
plain file see nothing; on the site the comment becomes that picture, with its caption and a link to the code. With
`beside` in place of `picture` it is smaller, and stands beside the text.
"""

import re
from pathlib import Path
from typing import Any

PICTURE = re.compile(
    r"<!-- (?P<kind>picture|beside): (?P<folder>\w+)/(?P<name>\w+) (?P<number>\d+) \| (?P<caption>[^>]+?) -->"
)
ORDER = {
    "1_margins": [
        "perceptron_and_margin",
        "distance",
        "vc_bound",
        "margin_and_c",
        "outlier",
        "slack",
        "margin_bound",
        "mistakes",
        "losses",
        "descent",
        "expansion_descent",
    ],
    "2_trick": ["line", "ring", "xor", "cost", "surface", "infinite", "layer", "shapes"],
    "3_matrices": ["good_and_bad", "width", "spectrum", "is_it_a_kernel", "own_kernel", "closure"],
    "4_objects": [
        "overview",
        "sets",
        "strings_explained",
        "neighbours",
        "dna_windows",
        "molecules",
        "karate",
        "graphlets",
        "graphs_explained",
        "trees",
        "documents",
        "series",
        "table",
    ],
    "5_learners": [
        "deviations",
        "quantiles",
        "robust",
        "novelty",
        "two_samples",
        "views",
        "digits",
        "clusters",
        "calibration",
    ],
    "6_choosing": [
        "search",
        "validation_surface",
        "honest",
        "learning_curve",
        "peers",
        "certificate",
        "against_scikit_learn",
        "nystrom",
        "cells",
    ],
}
"""From the first to read to the last. A test sees to it that no example is missing."""


class Order:
    """What sphinx-gallery sorts the examples of one folder by."""

    def __init__(self, folder: str) -> None:
        self.names = ORDER.get(Path(folder).name, [])

    def __call__(self, file: str) -> int:
        return self.names.index(Path(file).stem)


def insert(app: Any, page: str, source: list[str]) -> None:
    """Called by Sphinx with the text of each page before it is parsed."""
    up = "../" * page.count("/")

    def figure(found: re.Match[str]) -> str:
        example = f"{up}examples/{found['folder']}"
        image = f"{example}/images/sphx_glr_{found['name']}_{int(found['number']):03}.png"
        width, shape = ("90%", "gallery-picture") if found["kind"] == "picture" else ("100%", "gallery-picture beside")
        return (
            f":::{{figure}} {image}\n:alt: {found['caption']}\n:width: {width}\n:figclass: {shape}\n\n"
            f"{found['caption']} ([code]({example}/{found['name']}.rst))\n:::"
        )

    source[0] = PICTURE.sub(figure, source[0])
