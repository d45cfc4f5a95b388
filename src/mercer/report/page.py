"""The frame of a report, and the pieces it is made of. Whatever comes from a user passes through `escape`."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterable, Sequence

_STYLE = """
:root {
  color-scheme: light dark; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --fill: #f6f8fa;
  --accent: #0550ae; --grid: #eaeef2; --faint: #8c959f; --blue: #0550ae; --orange: #b35900;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0d1117; --ink: #e6edf3; --soft: #9da7b3; --line: #30363d; --fill: #161b22; --accent: #79b8ff;
    --grid: #21262d; --faint: #8c959f; --blue: #79b8ff; --orange: #ffa657;
  }
}
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
main { max-width: 58rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; padding-top: .8rem; border-top: 1px solid var(--line); }
p, li { max-width: 46rem; overflow-wrap: anywhere; }
.verdict { font-size: 1.12rem; background: var(--fill); border-left: 4px solid var(--accent); padding: .8rem 1rem; }
.soft, figcaption { color: var(--soft); font-size: .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .95rem; }
th, td { padding: .3rem .7rem .3rem 0; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td.n, th.n { text-align: right; white-space: nowrap; }
td.wide { min-width: 8rem; overflow-wrap: anywhere; }
td.wide:last-child { min-width: 18rem; }
td.bar { width: 16rem; vertical-align: middle; }
td.bar i { display: block; height: .7rem; min-width: 1px; border-radius: 2px; background: var(--blue); }
caption { caption-side: bottom; text-align: left; padding-top: .4rem; }
@media (max-width: 36rem) {
  td.wide { min-width: 5rem; }
  td.bar { width: 9rem; min-width: 3rem; }
  .stacked thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .stacked tr { display: block; padding: .5rem 0; border-bottom: 1px solid var(--line); }
  .stacked td, .stacked td.wide:last-child {
    display: flex; gap: .7rem; min-width: 0; padding: .1rem 0; border: 0; text-align: left; white-space: normal;
  }
  .stacked td.n { display: inline-block; margin-right: 1rem; }
  .stacked td.n::before { margin-right: .5rem; }
  .stacked td.bar { display: block; width: 100%; }
  .stacked td::before { content: attr(data-head); flex: 0 0 5rem; color: var(--soft); }
}
figure { margin: 1rem 0; }
svg, img { max-width: 100%; height: auto; display: block; }
img.pixels { image-rendering: pixelated; width: min(100%, 26rem); border: 1px solid var(--line); }
.pair { display: flex; flex-wrap: wrap; gap: 1rem 2rem; }
.pair > figure { flex: 1 1 18rem; min-width: 0; }
pre {
  background: var(--fill); padding: .8rem; font-size: .88rem; white-space: pre-wrap; overflow-wrap: anywhere;
}
code.sequence { overflow-wrap: anywhere; line-height: 1.9; }
code.sequence span { padding: 2px 0; }
details { margin: .8rem 0; }
summary { cursor: pointer; color: var(--accent); }
summary:focus-visible, a:focus-visible, .scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a.save { white-space: nowrap; }
.lead { display: flex; flex-wrap: wrap; gap: .5rem 2rem; align-items: center; }
.lead > .verdict { flex: 2 1 24rem; margin: 0; }
.lead > figure { flex: 1 1 20rem; margin: 0; min-width: 0; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1rem; }
a { color: var(--accent); }
@media print {
  nav, a.save { display: none; }
  :root {
    color-scheme: light; --paper: #fff; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --fill: #f6f8fa;
    --accent: #0550ae; --grid: #eaeef2; --faint: #8c959f; --blue: #0550ae; --orange: #b35900;
  }
  body { font-size: 11pt; }
  main { max-width: none; padding: 0; }
  figure, tr, .verdict { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; block-size: auto; }
}
"""
_LIGHT = {
    "paper": "#fff",
    "soft": "#57606a",
    "line": "#d0d7de",
    "grid": "#eaeef2",
    "faint": "#8c959f",
    "blue": "#0550ae",
    "orange": "#b35900",
}
"""The colours of pictures on paper, as in the style."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def escape(value: object) -> str:
    """Text from anywhere, made harmless: nothing in it is markup, control characters are shown."""
    text = "".join(
        one if one.isprintable() or one in "\n\t\N{NO-BREAK SPACE}" else "\N{REPLACEMENT CHARACTER}"
        for one in str(value)
    )
    return html.escape(text, quote=True)


def page(title: str, sections: Sequence[tuple[str, str, str]]) -> str:
    """A whole document; sections are (anchor, heading, HTML), the first of them without a heading of its own."""
    links = "".join(f'<li><a href="#{key}">{escape(head)}</a></li>' for key, head, _ in sections[1:])
    body = sections[0][2] + f'<nav aria-label="Contents"><ul>{links}</ul></nav>'
    for key, head, content in sections[1:]:
        body += f'<section aria-labelledby="{key}"><h2 id="{key}">{escape(head)}</h2>{content}</section>'
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body><main>{body}</main></body></html>\n"
    )


def paragraph(text: object, kind: str = "") -> str:
    return f"<p{f' class={kind}' if kind else ''}>{escape(text)}</p>"


def listed(items: Iterable[object]) -> str:
    return "<ul>" + "".join(f"<li>{escape(item)}</li>" for item in items) + "</ul>"


def table(
    heads: Sequence[str],
    rows: Iterable[Sequence[object]],
    caption: str = "",
    *,
    bars: Sequence[float] = (),
    stacked: bool = False,
) -> str:
    """A table; cells that are numbers, or look like some, stand on the right.

    `bars` are sizes that are drawn behind the rows. On narrow screens the cells of a `stacked` table stand below each
    other, each beside its head, so that long texts have room.
    """
    kept = [[str(cell) for cell in row] for row in rows]
    numeric = [all(_is_figure(row[place]) for row in kept) for place in range(len(heads))]
    drawn = [_bar(size / (max(bars) or 1.0)) for size in bars] or [""] * len(kept)
    names = heads if stacked else [""] * len(heads)
    body = "".join(
        "<tr>" + "".join(map(_cell, row, numeric, names)) + bar + "</tr>" for row, bar in zip(kept, drawn, strict=True)
    )
    columns = zip(heads, numeric, strict=True)
    head = "".join(f'<th scope="col"{" class=n" if right else ""}>{escape(name)}</th>' for name, right in columns)
    head += "<td></td>" if bars else ""
    told = f"<caption class=soft>{escape(caption)}</caption>" if caption else ""
    kind = " class=stacked" if stacked else ""
    return (
        f"<div class=scroll tabindex=0><table{kind}>{told}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        "</div>"
    )


def _cell(text: str, right: bool, head: str) -> str:
    name = f' data-head="{escape(head)}"' if head else ""
    return f'<td class="{"n" if right else "wide"}"{name}>{escape(text)}</td>'


def _bar(share: float) -> str:
    """The figure beside it says the same, so it is not read aloud."""
    return f'<td class=bar aria-hidden=true><i style="width:{100 * share:.1f}%"></i></td>'


def figure(picture: str, caption: str, save_as: str = "") -> str:
    """A picture with its caption; with a name, also a link that saves it as a file of its own."""
    link = ""
    if save_as and picture.startswith("<svg"):
        link = f' <a class=save download="{save_as}.svg" href="{_alone(picture)}">Save</a>'
    return f"<figure>{picture}<figcaption>{escape(caption)}{link}</figcaption></figure>"


def _alone(svg: str) -> str:
    """A picture as an address: outside of the page it needs its colours, a background and its own name space."""
    text = svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" style="background:#fff" ', 1)
    text = text.replace("currentColor", "#1b1f24")
    for name, colour in _LIGHT.items():
        text = text.replace(f"var(--{name})", colour)
    return "data:image/svg+xml;base64," + base64.b64encode(text.encode()).decode("ascii")


def folded(summary: str, content: str) -> str:
    """What few readers need, folded behind a line that opens it; it is open in print."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>" if content else ""


def picture_of(png: bytes, alt: str) -> str:
    """An image inside the page."""
    data = base64.b64encode(png).decode("ascii")
    return f'<img class=pixels alt="{escape(alt)}" src="data:image/png;base64,{data}">'


def _is_figure(cell: str) -> bool:
    plain = cell.replace(",", "").replace("%", "").replace("±", "").replace("-", "").replace(".", "").replace("+", "")
    return plain.replace(" ", "").replace("e", "").replace("to", "").replace("s", "").isdigit() or cell in ("", "-")
