"""The reference pages of the site, one for each public name, written from the registry before Sphinx reads sources."""

from __future__ import annotations

import contextlib
import importlib
import io
import re
import shutil
import types
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from advice import ADVICE

import mercer
from mercer import blocks, datasets, kernels, plots, testing
from mercer._public import homes
from mercer._registry import ESTIMATORS, KERNELS, LOSSES
from mercer.cli.app import run
from mercer.cli.commands import COMMANDS
from mercer.testing.examples import examples_of

GALLERY = "\n".join(file.read_text(encoding="utf-8") for file in (Path(__file__).parents[1] / "gallery").glob("*/*.py"))
THEORY = {
    "margins": "Margins of planes and of fitted machines",
    "bounds": "Bounds on the error of unseen objects",
    "of_model": "Bounds of fitted machines",
}
"""Modules of `mercer.theory` whose functions the lectures use."""
KINDS = {
    "Vectors": "vectors", "Categories": "rows of categories", "Strings": "strings", "Sets": "sets", "Bags": "bags",
    "Graphs": "graphs", "Nodes": "nodes of one graph", "Trees": "trees", "Series": "time series", "Table": "tables",
    "GramRows": "rows of a Gram matrix",
}  # fmt: skip


_ROUTED = (
    "fit", "partial_fit", "score", "predict", "predict_proba", "decision_function", "transform", "inverse_transform",
)  # fmt: skip
OF_SCIKIT_LEARN = ", ".join(
    ["get_params", "set_params", "set_output", "get_metadata_routing", *(f"set_{method}_request" for method in _ROUTED)]
)
"""Methods that scikit-learn adds to every estimator, and documents itself."""


def write(folder: Path) -> None:
    """Write all pages anew; Sphinx renders those that changed."""
    shutil.rmtree(folder, ignore_errors=True)
    sections = {
        "kernels": ("Kernels", _kernels() | _helpers()),
        "learners": ("Learners", _classes(ESTIMATORS, "mercer") | _searches()),
        "losses": ("Losses", _classes(LOSSES, None)),
        "displays": ("Displays", _displays()),
        "functions": ("Functions", _functions()),
        "theory": ("Theory", _modules(THEORY)),
        "datasets": ("Data sets", _named("mercer.datasets", datasets.__all__)),
        "blocks": ("Data in blocks", _named("mercer.blocks", blocks.__all__)),
        "testing": ("Tests of your own classes", _named("mercer.testing", testing.__all__)),
        "commands": ("Commands", _commands()),
    }
    for name, (title, pages) in sections.items():
        (folder / name).mkdir(parents=True)
        for page, text in pages.items():
            (folder / name / f"{page}.rst").write_text(text, encoding="utf-8")
        listed = "".join(f"   {page}\n" for page in pages)
        head = f"{title}\n{'=' * len(title)}\n\n.. toctree::\n   :maxdepth: 1\n\n{listed}"
        (folder / name / "index.rst").write_text(head, encoding="utf-8")
    chapters = "".join(f"   {name}/index\n" for name in sections)
    (folder / "index.rst").write_text(
        f"Reference\n=========\n\nOne page for every public name.\n\n.. toctree::\n   :maxdepth: 2\n\n{chapters}",
        encoding="utf-8",
    )


def _kernels() -> dict[str, str]:
    pages = {}
    for name, entry in KERNELS.items():
        kind: Any = entry.load()
        example = next(iter(examples_of(kind)), None)
        cost, when = ADVICE[kind.__name__]
        facts = {"In text": f"``{entry.text}``", "Cost of an entry": cost, "When to use": when}
        domain = getattr(kind, "domain", None)
        facts["Compares"] = KINDS.get(getattr(domain, "__name__", ""), "what its parts compare, or any objects")
        if example is not None:
            facts["Positive semi-definite"] = "yes" if example.psd else "no: see ``psd=`` of the learners"
        lines = "".join(f":{field}: {_escaped(value)}\n" for field, value in facts.items())
        written = example is not None and entry.text.replace("_", r"\_") not in example.latex()  # more than its name
        formula = _formula(example) if written else ""
        pages[name] = (
            f"{name}\n{'=' * len(name)}\n\n*{_escaped(entry.summary)}*\n\n{formula}\n{lines}\n"
            f".. autoclass:: mercer.kernels.{kind.__name__}\n   :members: {', '.join(_own(kind))}\n"
            f"{_examples(f'mercer.kernels.{kind.__name__}')}"
        )
    return pages


def _helpers() -> dict[str, str]:
    """The contract of kernels, and functions that make kernels of others."""
    return _named("mercer.kernels", [name for name in kernels.__all__ if name not in KERNELS])


def _named(module: str, names: list[str]) -> dict[str, str]:
    """A page for each class or function of a module."""
    found = {}
    for name in names:
        full = f"{module}.{name}"
        kind = "autoclass" if isinstance(getattr(importlib.import_module(module), name), type) else "autofunction"
        members = "   :members:\n" if kind == "autoclass" else ""
        page = f"{name}_" if name.lower() == "index" else name
        found[page] = f"{name}\n{'=' * len(name)}\n\n.. {kind}:: {full}\n{members}{_examples(full)}"
    return found


def _modules(titles: dict[str, str]) -> dict[str, str]:
    """A page for each module of functions."""
    return {
        name: f"{title}\n{'=' * len(title)}\n\n.. automodule:: mercer.theory.{name}\n   :members:\n"
        for name, title in titles.items()
    }


def _searches() -> dict[str, str]:
    """Classes that train learners: searches, cells, machines on several kernels."""
    names = [
        name for name in sorted(homes("mercer")) if isinstance(getattr(mercer, name), type) and name not in ESTIMATORS
    ]
    return {
        name: f"{name}\n{'=' * len(name)}\n\n.. autoclass:: mercer.{name}\n   :members:\n   :inherited-members:\n"
        f"   :exclude-members: {OF_SCIKIT_LEARN}\n{_examples(f'mercer.{name}')}"
        for name in names
    }


def _examples(full: str) -> str:
    """Pictures of the examples that use a name; nothing where none does."""
    name = full.rpartition(".")[2]
    used = (
        re.search(rf"\bkernels\.{name}\b", GALLERY)
        if full.startswith("mercer.kernels.")
        else re.search(rf"\b{name}\b", GALLERY)
    )
    return f"\n.. minigallery:: {full}\n   :add-heading: In the gallery\n" if used else ""


def _own(kind: type) -> list[str]:
    """What a kernel offers beyond the contracts that it fulfils, which own-kernels.md explains."""
    return [
        name
        for name, value in vars(kind).items()
        if not name.startswith("_") and callable(value) and not any(hasattr(above, name) for above in kind.__mro__[1:])
    ]


def _classes(table: Any, package: str | None) -> dict[str, str]:
    pages = {}
    for name, entry in table.items():
        kind: Any = entry.load()
        home = package or kind.__module__
        pages[name] = (
            f"{kind.__name__}\n{'=' * len(kind.__name__)}\n\n.. autoclass:: {home}.{kind.__name__}\n   :members:\n"
            f"   :inherited-members:\n   :exclude-members: {OF_SCIKIT_LEARN}\n{_examples(f'{home}.{kind.__name__}')}"
        )
    return pages


def _displays() -> dict[str, str]:
    return {
        name: f"{name}\n{'=' * len(name)}\n\n.. autoclass:: mercer.plots.{name}\n   :members:\n"
        f"{_examples(f'mercer.plots.{name}')}"
        for name in sorted(homes("mercer.plots") if _has_stub("plots") else plots.__all__)
    }


def _functions() -> dict[str, str]:
    pages = {}
    for name in sorted(homes("mercer")):
        found = getattr(mercer, name)
        if isinstance(found, types.ModuleType) and name != "kernels":
            first = (found.__doc__ or "").split("\n", 1)[0]
            listed = "".join(f"* ``mercer.{name}.{part}``\n" for part in found.__all__)
            pages[name] = f"{name}\n{'=' * len(name)}\n\n.. py:module:: mercer.{name}\n\n{first}\n\n{listed}"
        elif callable(found) and not isinstance(found, type):
            pages[name] = f"{name}\n{'=' * len(name)}\n\n.. autofunction:: mercer.{name}\n{_examples(f'mercer.{name}')}"
    return pages


def _commands() -> dict[str, str]:
    pages = {}
    for command in COMMANDS:
        name = command.__name__
        with contextlib.redirect_stdout(io.StringIO()) as told:
            run([name, "--help"])
        plain = re.sub(r"\x1b\[[0-9;]*m", "", told.getvalue())
        body = "".join(f"   {line}\n" if line.strip() else "\n" for line in plain.splitlines())
        title = f"mercer {name}"
        pages[name] = f"{title}\n{'=' * len(title)}\n\n.. code-block:: text\n\n{body}"
    return pages


def _has_stub(package: str) -> bool:
    return (Path(mercer.__file__).parent / package / "__init__.pyi").exists()


def _formula(kernel: Any) -> str:
    """The formula as a picture that takes the colour of the text; as text where it cannot be drawn."""
    latex = kernel.latex()
    figure = plt.figure(figsize=(0.1, 0.1))
    try:
        drawn = latex.replace(r"\left", "").replace(r"\right", "").replace(r"\lt", "<").replace(r"\|", "|")
        figure.text(0, 0, f"$k(x, z) = {drawn}$", fontsize=15)
        with io.StringIO() as file:
            figure.savefig(file, format="svg", bbox_inches="tight", pad_inches=0.05, transparent=True)
            svg = file.getvalue()
    except Exception:
        return f".. code-block:: text\n\n   k(x, z) = {latex}\n"
    finally:
        plt.close(figure)
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor").replace("<g id=", '<g fill="currentColor" id=', 1)
    alt = latex.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    body = "".join(f"   {line}\n" for line in svg.splitlines())
    return f'.. raw:: html\n\n   <div class="formula" role="img" aria-label="k(x, z) = {alt}">\n{body}   </div>\n'


def _escaped(text: str) -> str:
    """Plain words in the markup of Sphinx."""
    return re.sub(r"(?<!`)([|*_\\])(?![^`]*``)", r"\\\1", text) if "``" not in text else text
