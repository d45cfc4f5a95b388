"""How Sphinx builds the site: `./mercer docs`, or `python -m sphinx -W -n docs build/docs`."""

import re
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "site"), str(HERE.parent / "src")]

import pages  # noqa: E402 - found by the line above
import pictures  # noqa: E402

from mercer._version import __version__  # noqa: E402

project, author, release = "Mercer", "The Mercer developers", __version__
copyright = "The Mercer developers"  # noqa: A001 - the name that Sphinx reads
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_design", "sphinx_copybutton", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "README.md",
    "site/*",
    "images/*",
    "gallery/*",
    "examples/**/*.ipynb",
    "examples/**/*.py",
    "examples/backreferences/*",
]
default_role = "code"
smartquotes = False  # two hyphens begin an option
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
myst_enable_extensions = ["colon_fence", "attrs_inline"]
myst_heading_anchors = 3
suppress_warnings = [
    "myst.xref_missing",  # files beside docs/ are no pages; the tests look for them
    "sphinx_gallery.space_in_filename",  # the folder of a checkout may have a space in its name; no file here does
]
nitpick_ignore_regex = [
    ("py:.*", r"(mercer\.inputs|sklearn|numpy|scipy)\..*"),
    ("std:term", ".*"),
]  # what has no page here
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
html_theme = "pydata_sphinx_theme"
html_title = f"Mercer {release}"
html_static_path = ["site/static"]
html_css_files = ["mercer.css"]
html_theme_options = {
    "navigation_with_keys": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "lectures/index-of-kernels": []},
    "header_links_before_dropdown": 6,
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
html_search_scorer = str(HERE / "site" / "scorer.js")
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "pictures.Order",
    "reset_modules": ("look.apply",),
    "backreferences_dir": "examples/backreferences",
    "doc_module": ("mercer",),
    "capture_repr": (),
    "show_signature": False,
    "thumbnail_size": (480, 360),
    "show_memory": False,
    "min_reported_time": 10**6,
    "write_computation_times": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "parallel": 2,
}


SECTIONS = {"Parameters", "Attributes", "Returns", "Raises", "Notes", "Examples"}


def marked_up(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Docstrings are plain text with scikit-learn's sections: lists of `name : what it is`, which become lists."""
    if (getattr(obj, "__module__", None) or "").startswith("sklearn"):
        lines[:] = [
            re.sub(r":\w+:`(~?[\w.]+\.)?([^`<]*?)(\s*<[^`]*)?`", r"\2", line) for line in _first_paragraph(lines)
        ]
        return
    found: list[str] = []
    listing = False
    joined_names(lines)
    for number, line in enumerate(lines):
        if re.fullmatch("-{3,}", line.strip()) and number and lines[number - 1].strip() in SECTIONS:
            found[-1:] = [f"**{lines[number - 1].strip()}**", ""]
            listing = True
        elif line.lstrip().startswith((">>>", "...")):
            if found and found[-1].strip() and not found[-1].lstrip().startswith((">>>", "...")):
                found.append("")
            found.append(line)
            listing = False
        elif listing and (entry := re.match(r"(?P<names>[\w*, .]+?) :(?: (?P<text>.*))?$", line)):
            names = ", ".join(f"``{part.strip()}``" for part in entry["names"].split(","))
            found.append(f"- {names}: {plain(entry['text'] or '')}")
        elif listing and line.startswith(" "):
            found.append(f"  {plain(line.strip())}")
        else:
            found.append(line if _after_example(found) else plain(line))
            listing = listing and (not line.strip() or line.startswith(" "))
    lines[:] = [*found, ""]


def _first_paragraph(lines: list[str]) -> list[str]:
    """What scikit-learn says first of a method that it adds; the rest is in its own documentation."""
    end = next((number for number, line in enumerate(lines) if number and not line.strip()), len(lines))
    return [*lines[:end], ""]


def joined_names(lines: list[str]) -> None:
    """Make one line of a list of names that goes over two."""
    for number in range(len(lines) - 2, -1, -1):
        if re.fullmatch(r"[\w, ]+,", lines[number]) and " : " in lines[number + 1]:
            lines[number : number + 2] = [f"{lines[number]} {lines[number + 1]}"]


def _after_example(found: list[str]) -> bool:
    """Whether the lines so far end in an example, whose output means itself."""
    for line in reversed(found):
        if not line.strip():
            return False
        if line.lstrip().startswith((">>>", "...")):
            return True
    return False


def plain(line: str) -> str:
    """Bars, stars and trailing underscores outside backticks mean themselves."""
    pieces = re.split(r"(``[^`]*``|`[^`]*`)", line)
    pieces[::2] = [re.sub(r"([|*\\])|(?<=\w)(_)(?!\w)", r"\\\1\2", piece) for piece in pieces[::2]]
    return "".join(pieces)


def setup(app: Any) -> None:
    """Write the reference before sources are read."""
    pages.write(HERE / "reference")
    app.connect("source-read", pictures.insert)
    app.connect("autodoc-process-docstring", marked_up, priority=900)
