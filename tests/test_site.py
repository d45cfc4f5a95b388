"""The documentation site: advice for kernels, pages within reach, a gallery in order, pictures and links that exist."""

import ast
import importlib.util
import re
import types
from pathlib import Path
from urllib.parse import parse_qsl, unquote

import pytest

from mercer import kernels
from mercer._registry import KERNELS

DOCS = Path(__file__).resolve().parents[1] / "docs"
GALLERY = sorted((DOCS / "gallery").glob("*/*.py"))
PAGES = sorted(DOCS.rglob("*.md"))
STUDIO = "http://127.0.0.1:8275/#/"
"""Where `mercer studio` listens first."""
EXAMPLES = (
    "margin", "slack", "outlier", "inseparable", "xor", "ring", "lift", "spirals", "good-matrix", "bad-matrix",
    "three-classes", "regression", "one-class",
)  # fmt: skip
CHOICES = {
    "example": EXAMPLES,
    "view": ("surface", "components", "square", "pca"),
    "panel": ("gram", "spectrum", "solvers"),
    "algorithm": ("perceptron", "batch", "stochastic", "gradient"),
    "printed": ("1",),
    "kind": ("strings", "documents", "sets", "trees", "graphs", "molecules", "series", "vectors", "rows"),
}


def advice() -> dict[str, tuple[str, str]]:
    tree = ast.parse((DOCS / "site" / "advice.py").read_text(encoding="utf-8"))
    table = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign))
    found: dict[str, tuple[str, str]] = ast.literal_eval(table)
    return found


def pictures() -> types.ModuleType:
    """The module that puts pictures into pages; it imports the standard library alone."""
    spec = importlib.util.spec_from_file_location("pictures", DOCS / "site" / "pictures.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_kernel_has_a_cost_and_a_use():
    assert set(advice()) == {entry.name for entry in KERNELS.values()}
    assert all(cost and when for cost, when in advice().values())


def test_every_page_is_reached_from_the_index():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert page.stem in index or page.stem in ("index", "README"), page
    for folder in ("lectures", "how-to", "migrate"):
        assert f"{folder}/README" in index
        listed = (DOCS / folder / "README.md").read_text(encoding="utf-8")
        for page in (DOCS / folder).glob("*.md"):
            assert (f"\n{page.stem}\n" in listed and f"({page.name})" in listed) or page.stem == "README", page


def test_the_gallery_is_complete_and_in_order():
    order = pictures().ORDER
    assert [(folder, name) for folder in sorted(order) for name in sorted(order[folder])] == [
        (file.parent.name, file.stem) for file in GALLERY
    ]
    assert len(GALLERY) >= 30


@pytest.mark.parametrize("file", GALLERY, ids=[file.stem for file in GALLERY])
def test_examples_have_a_title_prose_and_labelled_axes(file: Path) -> None:
    code = file.read_text(encoding="utf-8")
    title, rule, empty, *prose = (ast.get_docstring(ast.parse(code)) or "").splitlines()
    assert len(title) == len(rule)
    assert set(rule) == {"="}
    assert not empty
    assert 100 < len(" ".join(prose)) < 600
    assert re.search(r"Display\.from_|label", code)
    assert not re.search(r"^\s*from mercer(\.\w+)*\._", code, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(DOCS)) for page in PAGES])
def test_pictures_of_pages_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = pictures()
    named = [*found.PICTURE.finditer(text), *found.THUMB.finditer(text)]
    assert len(named) == len(re.findall("<!-- (?:picture|thumb)", text))
    for match in named:
        example = DOCS / "gallery" / match["folder"] / f"{match['name']}.py"
        assert example.exists(), match[0]


def test_comments_become_pictures():
    source = ["<!-- picture: 2_trick/xor 2 | Lifted -->", ""]
    pictures().insert(None, "lectures/page", source)
    assert ":::{figure} ../examples/2_trick/images/sphx_glr_xor_002.png" in source[0]
    assert "Lifted ([code](../examples/2_trick/xor.rst))" in source[0]


LINKS = [
    (page, target)
    for page in PAGES
    for target in re.findall(rf"\]\(({re.escape(STUDIO)}[^)]*)\)", page.read_text(encoding="utf-8"))
]


def test_every_lecture_leads_into_the_studio():
    for name in ("penn-state", "melbourne", "chapel-hill"):
        assert sum(page.stem == name for page, _ in LINKS) >= 17


@pytest.mark.parametrize("target", sorted({target for _, target in LINKS}))
def test_links_into_the_studio_are_well_formed(target: str) -> None:
    room, _, query = target.removeprefix(STUDIO).partition("?")
    assert room in ("playground", "lab/pair", "lab/kernel", "lab/gram", "workbench")
    assert not re.search(r"[ ()*]", target)
    settings = dict(parse_qsl(query, strict_parsing=bool(query)))
    for name, value in settings.items():
        assert name in (*CHOICES, "kernel", "C", "x", "z", "formula"), name
        assert name not in CHOICES or value in CHOICES[name], value
    if "kernel" in settings:
        kernels.parse(unquote(settings["kernel"]))
    if "C" in settings:
        assert float(settings["C"]) > 0
