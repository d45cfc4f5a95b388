"""Small pictures as SVG and PNG, without a library or scripts, each with a text that says what it shows."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from mercer.readers.problems import measured
from mercer.report.page import escape

_BLUE, _ORANGE = "var(--blue)", "var(--orange)"  # of the page's style, which has others in the dark
WIDTH, HEIGHT = 420, 300  # of a picture, in pixels: two fit side by side on the page
_FONT = 'font-family="system-ui, sans-serif" fill="currentColor"'
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 12, 12, 44  # margins, in pixels, with room for numbers and names of the axes
_FAINTEST, _DARKEST = 0.05, 0.5  # of the colour of a square: darker ones leave figures on them a contrast below 4.5
_HALF = 3.2  # half of the width of a letter on an axis, in pixels
_ROOMY = 48  # pixels: in smaller squares there is no room for a second line

Points = Sequence[tuple[float, float]]


class Axes:
    """A frame with numbers on it, to draw in."""

    def __init__(
        self,
        x: tuple[float, float],
        y: tuple[float, float],
        x_name: str,
        y_name: str,
        alt: str,
        x_labels: Sequence[tuple[float, str]] | None = None,
    ) -> None:
        """With `x_labels` these places of the first axis are marked, instead of round numbers."""
        self.x, self.y = _widened(x), _widened(y)
        self.parts: list[str] = []
        # As wide as the longest number on it, so that the name of the axis stands clear.
        self._left = max(_LEFT, 30 + 6.5 * max(len(_number(tick)) for tick in ticks(*self.y)))
        self._x_labels = [(tick, _number(tick)) for tick in ticks(*self.x)] if x_labels is None else x_labels
        self._frame(x_name, y_name, alt)

    def place(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return self._left + across * (WIDTH - self._left - _RIGHT), HEIGHT - _BOTTOM - up * (HEIGHT - _TOP - _BOTTOM)

    def line(self, points: Points, *, faint: bool = False) -> None:
        """A line through points; what it is compared with is `faint`."""
        placed = " ".join(f"{x:.1f},{y:.1f}" for x, y in (self.place(*point) for point in points))
        look = 'stroke="var(--faint)" stroke-dasharray="4 4"' if faint else f'stroke="{_BLUE}" stroke-width="2"'
        self.parts.append(f'<polyline points="{placed}" fill="none" {look}/>')

    def dots(self, points: Points, size: float = 3.0) -> None:
        for x, y in (self.place(*point) for point in points):
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{_BLUE}" fill-opacity="0.55"/>')

    def bars(self, edges: Sequence[float], heights: Sequence[float]) -> None:
        for left, right, height in zip(edges[:-1], edges[1:], heights, strict=True):
            x0, y0 = self.place(left, height)
            x1, y1 = self.place(right, self.y[0])
            self.parts.append(
                f'<rect x="{x0:.1f}" y="{y0:.1f}" width="{max(x1 - x0 - 1, 1):.1f}" height="{max(y1 - y0, 0):.1f}" '
                f'fill="{_BLUE}" fill-opacity="0.5"/>'
            )

    def svg(self) -> str:
        return "".join(self.parts) + "</svg>"

    def _frame(self, x_name: str, y_name: str, alt: str) -> None:
        self.parts.append(
            f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" aria-label="{escape(alt)}" {_FONT}>'
        )
        left, bottom = self.place(self.x[0], self.y[0])
        right, top = self.place(self.x[1], self.y[1])
        self.parts.append(f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="var(--soft)"/>')
        for tick, label in self._x_labels:
            x, _ = self.place(tick, self.y[0])
            end = x + _HALF * len(label) > WIDTH  # a word at the right end would be cut in its middle
            self.parts.append(
                f'<text x="{right if end else x:.1f}" y="{bottom + 16}" font-size="11" '
                f'text-anchor="{"end" if end else "middle"}">{escape(label)}</text>'
            )
        for tick in ticks(*self.y):
            _, y = self.place(self.x[0], tick)
            self.parts.append(f'<path d="M{left} {y:.1f}H{right}" stroke="var(--grid)" fill="none"/>')
            self.parts.append(
                f'<text x="{left - 6}" y="{y + 4:.1f}" font-size="11" text-anchor="end">{_number(tick)}</text>'
            )
        middle = (left + right) / 2
        self.parts.append(
            f'<text x="{middle}" y="{HEIGHT - 8}" font-size="12" text-anchor="middle">{escape(x_name)}</text>'
        )
        self.parts.append(
            f'<text x="12" y="{(top + bottom) / 2}" font-size="12" text-anchor="middle" '
            f'transform="rotate(-90 12 {(top + bottom) / 2})">{escape(y_name)}</text>'
        )


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Round numbers within a range."""
    rough = (high - low) / most
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [number * step for number in range(first, math.floor(high / step + 1e-9) + 1)]


def intervals(
    rows: Sequence[tuple[str, float, float, float]], name: str, alt: str, ends: tuple[float, float] = (0.0, 1.0)
) -> str:
    """One line per row: its name, and a dot on the line from its lower to its upper end; at least from end to end."""
    low, high = _widened((min(ends[0], *(row[1] for row in rows)), max(ends[1], *(row[3] for row in rows))))
    left, height = 84, 30 * len(rows) + 48

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (WIDTH - left - 14)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" aria-label="{escape(alt)}" {_FONT}>',
        *(_rule(across(tick), height - 38, _number(tick)) for tick in ticks(low, high)),
    ]
    for number, (text, start, middle, end) in enumerate(rows):
        y = 20 + 30 * number
        colour = _ORANGE if number else _BLUE
        parts.append(f'<text x="0" y="{y + 4}" font-size="12">{escape(text)}</text>')
        parts.append(f'<path d="M{across(start):.1f} {y}H{across(end):.1f}" stroke="{colour}" stroke-width="4"/>')
        parts.append(f'<circle cx="{across(middle):.1f}" cy="{y}" r="6" fill="{colour}"/>')
    parts.append(
        f'<text x="{(left + WIDTH) / 2}" y="{height - 6}" font-size="11" text-anchor="middle">{escape(name)}</text>'
    )
    return "".join(parts) + "</svg>"


def levels(rows: Sequence[tuple[str, float]], name: str, alt: str, ends: tuple[float, float]) -> str:
    """One line per row: its name, and a dot at its value, on a scale from end to end."""
    low, high = _widened(ends)
    left, height = 130, 28 * len(rows) + 48

    def across(value: float) -> float:
        return left + 8 + (value - low) / (high - low) * (WIDTH - left - 24)

    parts = [
        f'<svg viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img" aria-label="{escape(alt)}" {_FONT}>',
        *(_rule(across(tick), height - 38, _number(tick)) for tick in ticks(low, high)),
    ]
    for number, (text, value) in enumerate(rows):
        y = 20 + 28 * number
        parts.append(
            f'<text x="{left - 8}" y="{y + 4}" font-size="12" text-anchor="end">{_short(text, 18)}'
            f"<title>{escape(text)}</title></text>"
            f'<path d="M{left} {y}H{across(value):.1f}" stroke="var(--line)"/>'
            f'<circle cx="{across(value):.1f}" cy="{y}" r="6" fill="{_BLUE}"/>'
        )
    parts.append(
        f'<text x="{(left + WIDTH) / 2}" y="{height - 6}" font-size="12" text-anchor="middle">{escape(name)}</text>'
    )
    return "".join(parts) + "</svg>"


def confusion(counts: npt.NDArray[Any], names: Sequence[str], alt: str) -> str:
    """A square for each pair of true and predicted classes, darker for a larger share of the row, with its count."""
    many = len(names)
    left, top, side = 96, 40, max(34, min(84, 320 // many))
    width, height = left + side * many + 4, top + side * many + 4
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{escape(alt)}" {_FONT}>',
        f'<text x="{left + side * many / 2}" y="12" font-size="12" text-anchor="middle">predicted</text>',
        f'<text x="0" y="{top - 8}" font-size="12">truth</text>',
    ]
    for one, name in enumerate(names):
        middle = top + side * one + side / 2 + 4
        parts.append(f'<text x="{left - 8}" y="{middle}" font-size="12" text-anchor="end">{_short(name, 12)}</text>')
        across = left + side * one + side / 2
        short = _short(name, max(3, side // 8))
        parts.append(f'<text x="{across}" y="{top - 8}" font-size="12" text-anchor="middle">{short}</text>')
        for other in range(many):
            share, x, y = float(shares[one, other]), left + side * other, top + side * one
            depth = _FAINTEST + (_DARKEST - _FAINTEST) * share
            parts.append(
                f'<rect x="{x}" y="{y}" width="{side - 2}" height="{side - 2}" rx="3" '
                f'fill="{_BLUE if one == other else _ORANGE}" fill-opacity="{depth:.3f}"/>'
            )
            place = f'x="{x + side / 2 - 1}" text-anchor="middle"'
            parts.append(f'<text {place} y="{y + side / 2 + 1}" font-size="12">{int(counts[one, other]):,}</text>')
            if side >= _ROOMY:
                parts.append(f'<text {place} y="{y + side / 2 + 16}" font-size="10">{100 * share:.0f} %</text>')
    return "".join(parts) + "</svg>"


def _short(text: str, most: int) -> str:
    return escape(text if len(text) <= most else text[: most - 1] + "\N{HORIZONTAL ELLIPSIS}")


def spread(rows: Sequence[tuple[str, Sequence[float]]], name: str, alt: str) -> str:
    """One line per row: its values as dots, their mean as a bar; for the scores of folds."""
    values = [value for _, own in rows for value in own]
    low, high = _widened((min(values), max(values)))
    wide, step, left = WIDTH, 44, 14
    height = step * len(rows) + 44

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * (wide - 2 * left)

    parts = [
        f'<svg viewBox="0 0 {wide} {height}" width="{wide}" role="img" aria-label="{escape(alt)}" {_FONT}>',
        *(_rule(across(tick), height - 34, _number(tick)) for tick in ticks(low, high)),
    ]
    for number, (text, own) in enumerate(rows):
        y = 32 + step * number
        shown = escape(text if len(text) <= 58 else text[:56] + "...")
        parts.append(f'<text x="2" y="{y - 14}" font-size="12">{shown}<title>{escape(text)}</title></text>')
        for value in own:
            place = f'cx="{across(value):.1f}" cy="{y}"'
            parts.append(f'<circle {place} r="4" fill="{_BLUE}" fill-opacity="0.45"/>')
        mean = across(float(np.mean(own)))
        parts.append(f'<path d="M{mean:.1f} {y - 9}V{y + 9}" stroke="{_ORANGE}" stroke-width="3"/>')
    middle = wide / 2
    parts.append(f'<text x="{middle}" y="{height - 5}" font-size="12" text-anchor="middle">{escape(name)}</text></svg>')
    return "".join(parts)


def _rule(x: float, bottom: float, text: str) -> str:
    line = f'<path d="M{x:.1f} 6V{bottom}" stroke="var(--grid)"/>'
    return f'{line}<text x="{x:.1f}" y="{bottom + 14}" font-size="11" text-anchor="middle">{text}</text>'


def png(values: npt.NDArray[Any]) -> bytes:
    """A matrix as an image: light is small, dark is large, readable in grey and by the colour-blind."""
    low, high = float(values.min()), float(values.max())
    share = (values - low) / (high - low) if high > low else np.zeros(values.shape)
    light, dark = np.array([247, 251, 255]), np.array([8, 48, 107])
    pixels = np.rint(light + share[:, :, None] * (dark - light)).astype(np.uint8)
    height, width = values.shape
    raw = b"".join(b"\0" + pixels[row].tobytes() for row in range(height))

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b"")


def _widened(ends: tuple[float, float]) -> tuple[float, float]:
    low, high = float(ends[0]), float(ends[1])
    if high - low <= 1e-9 * max(abs(low), abs(high), 1e-300):
        return low - max(abs(low) * 0.05, 0.01), high + max(abs(high) * 0.05, 0.01)
    return low, high


def _number(value: float) -> str:
    return measured(value) if abs(value) >= 1e-12 else "0"
