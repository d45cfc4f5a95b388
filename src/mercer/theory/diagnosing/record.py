"""The record of a diagnosis, and how it is shown: as text, JSON and HTML."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64
from mercer.theory.diagnosing.columns import Columns
from mercer.theory.diagnosing.cost import Cost, shown_bytes, shown_seconds
from mercer.theory.diagnosing.findings import Finding
from mercer.theory.diagnosing.objects import UnusualObjects
from mercer.theory.diagnosing.spectrum import Shape
from mercer.theory.diagnosing.targets import Labels
from mercer.theory.diagnosing.width import Width
from mercer.theory.mercer import MercerCheck
from mercer.theory.showing import Report, html_table, text_table


@final
@dataclass(frozen=True, eq=False)
class Diagnosis(Report):
    """Is this kernel any good for these objects? `str` answers in words, `to_json` in numbers; notebooks show both.

    `verdict` is "good", "weak", "diagonal", "constant", "indefinite", or "broken" if no matrix could be computed.
    """

    verdict: str
    reason: str
    next_step: str
    kernel: str
    kind: str
    """The kind of objects."""
    n: int
    examined: int
    """The number of objects examined."""
    findings: tuple[Finding, ...] = ()
    shape: Shape | None = None
    labels: Labels | None = None
    standing: UnusualObjects | None = None
    columns: Columns | None = None
    widths: tuple[Width, ...] = ()
    cost: Cost | None = None
    mercer: MercerCheck | None = None
    picture: Float64 | None = None
    """The matrix of cosines, ordered by class and similarity, reduced to at most 64 x 64."""

    @property
    def good(self) -> bool:
        return self.verdict == "good"

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        return f"{self.verdict}: {self.reason} {self.next_step}"

    def __str__(self) -> str:
        lines = [f"Verdict: {self.verdict}. {self.reason}", f"Next: {self.next_step}", "", text_table(self.rows())]
        for finding in self.findings:
            lines += ["", f"{finding.severity}: {finding.name}", f"  {finding.text} {finding.advice}".rstrip()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        verdict = f"<b>{html.escape(self.verdict)}</b>: {html.escape(self.reason)}"
        parts = [f"<p>{verdict}<br>Next: {html.escape(self.next_step)}</p>"]
        if self.picture is not None:
            parts.append(
                "<img alt='Gram matrix of cosines, ordered by class and similarity; dark is similar' width='192' "
                "height='192' "
                "style='image-rendering:pixelated;border:1px solid #888' "
                f"src='data:image/png;base64,{_png(self.picture)}'>"
            )
        parts.append(html_table(self.rows()))
        if self.findings:
            rows = [(item.severity, item.name, f"{item.text} {item.advice}".strip()) for item in self.findings]
            parts.append(html_table(rows, head=("", "finding", "what was seen, and what to do")))
        return f"<div>{''.join(parts)}</div>"

    def rows(self) -> list[tuple[str, str]]:
        seen = f"{self.n:,} {self.kind}" + (f", {self.examined:,} of them examined" if self.examined < self.n else "")
        rows = [("kernel", self.kernel), ("objects", seen)]
        if self.shape is not None:
            shape = self.shape
            rows += [
                ("similarity", f"mean {shape.mean_similarity:.3g}, to the nearest one {shape.nearest_similarity:.3g}"),
                ("diagonal dominance", f"{shape.diagonal_dominance:.3g} (1: nothing off the diagonal)"),
                ("variation", f"{shape.variation:.3g} of the squared lengths differs between objects"),
                ("directions", f"{shape.participation:.1f} in effect (flatness {shape.flatness:.3g})"),
                ("", f"90 % of the variation in {shape.components_90}, 99 % in {shape.components_99}"),
                ("effective rank", f"{shape.effective_rank:.1f}"),
                ("effective dimension", f"{shape.effective_dimension:.1f} at alpha = 1"),
                ("decay", f"eigenvalues fall like i^-{shape.decay:.2g}"),
            ]  # fmt: skip
        if self.labels is not None:
            rows += _label_rows(self.labels)
        if self.mercer is not None and self.mercer.smallest is not None:
            rows.append(("smallest eigenvalue", f"{self.mercer.smallest:.3g} (tolerance {self.mercer.tolerance:.1g})"))
        for width in self.widths:
            said = f"{width.parameter} = {width.value:.3g}; suggested {width.suggested:.3g}, by {width.by}"
            rows.append(("width", said if len(self.widths) == 1 else f"{width.kernel}: {said}"))
        if self.cost is not None:
            seconds, size = shown_seconds(self.cost.training_seconds), shown_bytes(self.cost.gram_bytes)
            of = f" for {self.cost.machine}" if self.cost.machine else ""
            rows.append(("training", f"about {seconds}{of}, {size} for the whole Gram matrix. {self.cost.advice}"))
        return rows


def _label_rows(labels: Labels) -> list[tuple[str, str]]:
    rows = [("alignment", f"{labels.alignment:.3g} with the labels, centred")]
    if labels.between is not None:
        within = "none" if labels.within is None else f"{labels.within:.3g}"
        chance = "too few objects for a p-value" if labels.p_value is None else f"p = {labels.p_value:.2g}"
        rows.append(("blocks", f"similarity within classes {within}, between {labels.between:.3g}; {chance}"))
    rows.append(("neighbours", f"{labels.neighbours:.3g} agree (by chance {labels.chance:.3g})"))
    return [*rows, ("left out", f"{labels.left_out:.3g} right (always the same answer: {labels.left_out_chance:.3g})")]


def _png(values: Float64) -> str:
    """A grey picture, dark where values are large: eight bits, one channel."""
    low, high = float(values.min()), float(values.max())
    scaled = np.zeros_like(values) if high <= low else (values - low) / (high - low)
    grey = (255 - np.round(235 * scaled)).astype(np.uint8)
    rows = b"".join(b"\x00" + row.tobytes() for row in grey)
    header = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    chunks = b"".join(_chunk(*part) for part in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + chunks).decode("ascii")


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
