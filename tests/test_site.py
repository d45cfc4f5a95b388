"""The documentation site has a page and advice for every kernel, and builds without heavy imports of its own."""

import ast
from pathlib import Path

from mercer._registry import KERNELS

DOCS = Path(__file__).resolve().parents[1] / "docs"


def advice() -> dict[str, tuple[str, str]]:
    tree = ast.parse((DOCS / "site" / "advice.py").read_text(encoding="utf-8"))
    table = next(node.value for node in tree.body if isinstance(node, ast.AnnAssign))
    found: dict[str, tuple[str, str]] = ast.literal_eval(table)
    return found


def test_every_kernel_has_a_cost_and_a_use():
    assert set(advice()) == {entry.name for entry in KERNELS.values()}
    assert all(cost and when for cost, when in advice().values())


def test_every_page_is_reached_from_the_index():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    lectures = (DOCS / "lectures" / "README.md").read_text(encoding="utf-8")
    for page in DOCS.glob("*.md"):
        assert page.stem in index or page.stem in ("index", "README"), page
    for page in (DOCS / "lectures").glob("*.md"):
        assert f"\n{page.stem}\n" in lectures or page.stem == "README", page
