"""The reference pages of the site, one for each public name, written from the registry before Sphinx reads sources."""

from __future__ import annotations

import importlib
import re
import shutil
import types
from pathlib import Path
from typing import Any

import commands
import formulas
import parameters
import uses
from advice import ADVICE

import mercer
from mercer import blocks, datasets, kernels, plots, testing
from mercer._public import homes
from mercer._registry import ESTIMATORS, KERNELS, LOSSES
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
        "learners": ("Learners", _learners()),
        "losses": ("Losses", _losses()),
        "displays": ("Displays", _displays()),
        "functions": ("Functions", _functions()),
        "theory": ("Theory", _modules(THEORY)),
        "datasets": ("Data sets", _named("mercer.datasets", datasets.__all__)),
        "blocks": ("Data in blocks", _named("mercer.blocks", blocks.__all__)),
        "testing": ("Tests of your own classes", _named("mercer.testing", testing.__all__)),
        "commands": ("Commands", commands.pages()),
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
        domain = getattr(kind, "domain", None)
        facts = {
            "Compares": KINDS.get(getattr(domain, "__name__", ""), "what its parts compare, or any objects"),
            "When to use": when,
            "Cost of a value": cost,
            "In text": f"``{entry.text}``",
        }
        if example is not None:
            facts["Positive semi-definite"] = "yes" if example.psd else "no: see ``psd`` of the learners"
        latex = formulas.KERNELS.get(name) or f"k(x, z) = {example.latex()}"  # type: ignore[union-attr]
        pages[name] = (
            f"{_title(name)}*{_escaped(entry.summary.replace('`', ''))}*\n\n{formulas.drawn(latex)}\n{_listed(facts)}\n"
            f".. autoclass:: mercer.kernels.{kind.__name__}\n{_members(_own(kind))}\n"
            f"{parameters.table(kind)}{_examples(f'mercer.kernels.{kind.__name__}')}"
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


def _learners() -> dict[str, str]:
    """Estimators, and classes that train them: searches, cells, machines on several kernels."""
    others = [
        name for name in sorted(homes("mercer")) if isinstance(getattr(mercer, name), type) and name not in ESTIMATORS
    ]
    pages = {}
    for name in [*ESTIMATORS, *others]:
        cost, when = uses.LEARNERS[name]
        pages[name] = (
            f"{_title(name)}{formulas.drawn(formulas.LEARNERS[name])}\n{_listed({'When to use': when, 'Cost': cost})}\n"
            f".. autoclass:: mercer.{name}\n   :members:\n   :inherited-members:\n"
            f"   :exclude-members: {OF_SCIKIT_LEARN}\n{_examples(f'mercer.{name}')}"
        )
    return pages


def _losses() -> dict[str, str]:
    pages = {}
    for name, entry in LOSSES.items():
        kind: Any = entry.load()
        cost, when = uses.LOSSES[name]
        pages[name] = (
            f"{_title(name)}{formulas.drawn(formulas.LOSSES[name])}\n"
            f"{_listed({'When to use': when, 'Cost': cost, 'In text': f'``{entry.text}``'})}\n"
            f".. autoclass:: {kind.__module__}.{name}\n{_members(['value', 'slope', 'curvature', 'conjugate'])}\n"
            f"{parameters.table(kind)}{_examples(f'{kind.__module__}.{name}')}"
        )
    return pages


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


def _displays() -> dict[str, str]:
    pages = {}
    for name in sorted(homes("mercer.plots") if _has_stub("plots") else plots.__all__):
        cost, question, picture = uses.DISPLAYS[name]
        folder, example, number = picture.replace("/", " ").split()
        image = f"/examples/{folder}/images/sphx_glr_{example}_{int(number):03}.png"
        pages[name] = (
            f"{_title(name)}*{question}*\n\n.. figure:: {image}\n   :alt: An example of {name}\n   :width: 90%\n"
            f"   :class: gallery-picture\n\n   :doc:`/examples/{folder}/{example}`\n\n"
            f"{_listed({'Cost': cost})}\n.. autoclass:: mercer.plots.{name}\n   :members:\n"
            f"{_examples(f'mercer.plots.{name}')}"
        )
    return pages


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


def _has_stub(package: str) -> bool:
    return (Path(mercer.__file__).parent / package / "__init__.pyi").exists()


def _members(names: list[str]) -> str:
    """Which methods to show; the option without names would mean all of them."""
    return f"   :members: {', '.join(names)}\n" if names else ""


def _title(name: str) -> str:
    return f"{name}\n{'=' * len(name)}\n\n"


CODE = re.compile(r"(?<!`)`([^`]+)`(?!`)")


def _listed(facts: dict[str, str]) -> str:
    """A list of facts; words in backticks are code."""
    return "".join(f":{field}: " + CODE.sub(r"``\1``", value) + "\n" for field, value in facts.items())


def _escaped(text: str) -> str:
    """Plain words in the markup of Sphinx."""
    return re.sub(r"(?<!`)([|*_\\])(?![^`]*``)", r"\\\1", text) if "``" not in text else text
