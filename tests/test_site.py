"""The documentation site: its tables name everything, pages are within reach, the gallery is in order, links work."""

import ast
import dataclasses
import importlib.util
import re
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote

import pytest

import mercer
from mercer import kernels
from mercer._public import homes
from mercer._registry import KERNELS, LOSSES
from mercer.cli.commands import COMMANDS
from mercer.testing.examples import examples_of

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


def site(name: str) -> Any:
    """A module of the site that imports the standard library alone."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "site" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pictures() -> Any:
    return site("pictures")


def formulas() -> tuple[dict[str, str], ...]:
    """The tables of formulas, read without what draws them."""
    tree = ast.parse((DOCS / "site" / "formulas.py").read_text(encoding="utf-8"))
    wanted = [node for node in tree.body if isinstance(node, (ast.Assign, ast.AnnAssign))]
    found: dict[str, Any] = {}
    exec(compile(ast.Module(wanted, []), "formulas.py", "exec"), found)
    return found["KERNELS"], found["LEARNERS"], found["LOSSES"]


def learners() -> set[str]:
    return {name for name in homes("mercer") if isinstance(getattr(mercer, name), type)}


def test_every_kernel_has_a_cost_and_a_use():
    advice = site("advice").ADVICE
    assert set(advice) == {entry.name for entry in KERNELS.values()}
    assert all(cost and when for cost, when in advice.values())


def test_every_learner_loss_display_and_command_has_a_cost_and_a_use():
    uses = site("uses")
    assert set(uses.LEARNERS) == learners()
    assert set(uses.LOSSES) == set(LOSSES)
    assert set(uses.DISPLAYS) == set(homes("mercer.plots"))
    assert set(uses.COMMANDS) == {command.__name__ for command in COMMANDS}
    for table in (uses.LEARNERS, uses.LOSSES, uses.DISPLAYS, uses.COMMANDS):
        assert all(all(texts) for texts in table.values())
    for _, _, picture in uses.DISPLAYS.values():
        assert (DOCS / "gallery" / f"{picture.split()[0]}.py").exists(), picture


def test_every_kernel_learner_and_loss_has_a_formula():
    of_kernels, of_learners, of_losses = formulas()
    assert set(of_kernels) <= set(KERNELS)
    for name in set(KERNELS) - set(of_kernels):  # these write their own
        example = next(iter(examples_of(KERNELS[name].load())))
        assert KERNELS[name].text.replace("_", r"\_") not in example.latex(), name
    assert set(of_learners) == learners()
    assert set(of_losses) == set(LOSSES)


def test_every_parameter_of_a_kernel_or_loss_is_explained():
    meaning = site("parameters").MEANING
    used = set()
    for name, entry in {**KERNELS, **LOSSES}.items():
        for field in dataclasses.fields(entry.load()):
            known = {f"{name}.{field.name}", field.name} & set(meaning)
            assert known, f"{name}.{field.name}"
            used |= known
    assert used == set(meaning)


def test_the_index_of_kernels_has_every_entry_of_the_slide():
    chapters = {
        9: (1, 6, 8, 12, 14, 18, 24, 25, 33, 34, 35, 37, 38, 40, 42, 43, 46),
        10: (5, 8),
        11: (7, 10, 13, 17, 20, 24, 25, 33, 36, 38, 40, 41, 42, 45, 46, 51, 54, 62, 65),
        12: (8, 14, 17, 34),
    }
    entries = [f"{chapter}.{number}" for chapter, numbers in chapters.items() for number in numbers]
    text = (DOCS / "lectures" / "index-of-kernels.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (?:Def|Comp|Alg|Rem|Sec).*$", text, re.MULTILINE)
    assert sorted(re.findall(r"\d+\.\d+", " ".join(row.split("|")[1] for row in rows))) == sorted(
        [*entries, "9.6"]
    )  # and Section 9.6
    for row in rows:
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]
        assert len(cells) == 6
        assert all(cells[:5]), row
        for name in re.findall(r"\b[A-Z]\w+(?=[(`])|\bdag\b", cells[2]):
            assert hasattr(kernels, name), name
            assert name in text.split("```python")[1], f"no example of {name}"


@pytest.mark.parametrize("lecture", ["penn-state", "melbourne", "chapel-hill"])
def test_every_slide_has_a_page_a_name_a_state_and_a_picture(lecture: str) -> None:
    text = (DOCS / "lectures" / f"{lecture}.md").read_text(encoding="utf-8")
    slides = re.split(r"^### ", text, flags=re.MULTILINE)[1:]
    assert len(slides) >= 19
    for slide in slides:
        for part in ("<!-- beside: ", "- **Page**: [", "- **In Mercer**: ", "- **Studio**: ["):
            assert part in slide, slide.splitlines()[0]


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
    for page in (DOCS / "index.md", DOCS.parent / "README.md"):
        assert f" {len(GALLERY)} examples" in page.read_text(encoding="utf-8").replace("\n", " "), page


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
    named = [*found.PICTURE.finditer(text)]
    assert len(named) == len(re.findall("<!-- (?:picture|beside|thumb)", text))
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
