"""Every code block of README.md, CONTRIBUTING.md and docs/ runs as printed.

The python blocks of a file run in order, in one namespace, in an empty folder. A block right after an HTML comment
`<!-- no-run: reason -->` is not run; the reason is not optional. One after `<!-- needs: module -->` is run where that
module is installed. Lines `$ ./mercer ...` of console blocks must name
commands that exist.
"""

import importlib
import importlib.util
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from mercer._registry import KERNELS

ROOT = Path(__file__).resolve().parents[1]
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]

FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<language>[\w+-]*)[^\n]*\n(?P<body>.*?)^ *(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
NEEDS = re.compile(r"<!-- *needs: *(?P<module>\w+) *-->\s*\Z")
NO_RUN = re.compile(r"<!-- *no-run:(?P<reason>((?!-->).)*)-->\s*\Z", re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int  # of the first line of code
    no_run: str | None


def blocks(text: str) -> Iterator[Block]:
    for match in FENCE.finditer(text):
        comment = NO_RUN.search(text, 0, match.start())
        reason = comment["reason"].strip() if comment else None
        needs = NEEDS.search(text, 0, match.start())
        if needs and importlib.util.find_spec(needs["module"]) is None:
            reason = f"{needs['module']} is not installed"
        line = text.count("\n", 0, match.start("body")) + 1
        if reason == "":
            raise ValueError(f"line {line - 1}: a block that is not run needs a reason: <!-- no-run: reason -->")
        indent = match["indent"]
        code = "".join(row.removeprefix(indent) for row in match["body"].splitlines(keepends=True))
        yield Block(match["language"], code, line, reason)


def run(file: Path) -> list[str]:
    """Run the python blocks of a file, with its own line numbers in tracebacks; why the others were left out."""
    module = types.ModuleType("__docs__")
    sys.modules["__docs__"] = module  # classes defined in a block are found by dataclasses and by pickle
    left_out = []
    try:
        for block in blocks(file.read_text(encoding="utf-8")):
            if block.language not in ("python", "py"):
                continue
            if block.no_run:
                left_out.append(f"line {block.line}: {block.no_run}")
                continue
            exec(compile("\n" * (block.line - 1) + block.code, str(file), "exec"), module.__dict__)
    finally:
        del sys.modules["__docs__"]
    return left_out


def mercer_commands(text: str) -> list[str]:
    lines = (
        line
        for block in blocks(text)
        if block.language in ("console", "sh", "bash")
        for line in block.code.splitlines()
    )
    return [line.removeprefix("$ ").split()[1] for line in lines if re.match(r"(\$ )?(\./)?mercer +\S", line)]


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_code_blocks_run(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    left_out = run(file)
    if left_out:
        pytest.skip("no-run: the other blocks passed; left out: " + "; ".join(left_out))


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_commands_exist(file: Path) -> None:
    for command in mercer_commands(file.read_text(encoding="utf-8")):
        assert is_known(command), command


def is_known(command: str) -> bool:
    listed = re.search(r'^commands="(.*)"$', (ROOT / "mercer").read_text(), re.MULTILINE)
    assert listed is not None
    return command in {*listed[1].split(), "--help", "-h", "--version"}


class TestTheCheckItself:
    def test_one_namespace_in_order(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text("```python\nx = 1\n```\ntext\n\n1. step\n\n   ```python\n   assert x == 1\n   ```\n")
        assert run(page) == []

    def test_failure_names_the_line(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text("# Title\n\n```python\nx = 1\nassert x == 2\n```\n")
        with pytest.raises(AssertionError) as caught:
            run(page)
        assert caught.traceback[-1].lineno + 1 == 5

    def test_left_out_with_a_reason_only(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text("say `<!-- no-run: why -->`\n\n<!-- no-run: needs a cluster -->\n```python\n1 / 0\n```\n")
        assert run(page) == ["line 5: needs a cluster"]
        page.write_text("<!-- no-run: -->\n```python\n1 / 0\n```\n")
        with pytest.raises(ValueError, match="needs a reason"):
            run(page)

    def test_commands(self) -> None:
        assert mercer_commands("```console\n$ ./mercer demo\nmercer: output\n$ ls\n```\n") == ["demo"]
        assert not is_known("dmeo")

    def test_dataclasses_work_in_blocks(self, tmp_path: Path) -> None:
        page = tmp_path / "page.md"
        page.write_text(
            "```python\nfrom __future__ import annotations\nfrom dataclasses import dataclass\n\n"
            "@dataclass(frozen=True)\nclass A:\n    x: int = 1\n\nassert A() == A(1)\n```\n"
        )
        assert run(page) == []


def test_readme_gives_the_two_commands() -> None:
    assert {"demo", "test"} <= set(mercer_commands((ROOT / "README.md").read_text(encoding="utf-8")))


PAGES = "\n".join(file.read_text(encoding="utf-8") for file in FILES if file.parent.name == "docs")


@pytest.mark.parametrize("module", ["mercer", "mercer.kernels", "mercer.plots", "mercer.testing"])
def test_every_public_name_is_on_a_page(module: str) -> None:
    """Whoever reads the guide finds everything that there is."""
    names = [name for name in importlib.import_module(module).__all__ if name not in ("__version__", "kernels")]
    assert [name for name in names if not re.search(rf"`[^`\n]*\b{name}\b[^`\n]*`", PAGES)] == []


def test_the_list_of_kernels_is_the_registry() -> None:
    text = (ROOT / "docs" / "kernels.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(listed) == sorted(KERNELS)
    for entry in KERNELS.values():
        assert re.search(rf"^\| `{entry.name}` \|.*`{entry.text}` \|", text, re.MULTILINE), entry.name


def test_every_page_can_be_reached() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").glob("*.md")):
        assert page.name in ("README.md", "index.md") or f"({page.name})" in index, page.name


def headings(file: Path) -> set[str]:
    """What links may name after a #: titles in lower case, words joined by hyphens, other signs left out."""
    text = FENCE.sub("", file.read_text(encoding="utf-8"))
    titles = re.findall(r"^#+ +(.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_links_name_headings_that_exist(file: Path) -> None:
    for target, heading in re.findall(r"\]\(((?!http)[^)#]*)#([^)]+)\)", file.read_text(encoding="utf-8")):
        page = (file.parent / target).resolve() if target else file
        assert page.suffix != ".md" or heading in headings(page), f"{target}#{heading}"


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(ROOT)) for file in FILES])
def test_links_lead_somewhere(file: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", file.read_text(encoding="utf-8")):
        assert target.startswith("http") or (file.parent / target).exists(), target
