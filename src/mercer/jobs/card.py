"""Model cards in Markdown: what a model is for, its training data, how good it is, and where not to trust it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mercer.jobs.preparation import OBJECT
from mercer.jobs.summary import NOUNS
from mercer.jobs.trained import TrainedModel
from mercer.jobs.verdicts import readable

_MOST_COLUMNS = 60  # the most rows of a table: nobody reads more


def card(model: TrainedModel, path: str = "model.mercer") -> str:
    """The card of a model that is, or will be, in a file at this path."""
    about = model.about
    what = f"{about['task']} of {about['target']}" if about.get("target") else str(about["task"])
    sections = {
        "How good it is": _quality(about),
        "What it was made from": _origin(model),
        "How it was made": _making(model),
        "Where not to trust it": _limits(model),
        "How to use it": _use(model, path),
    }
    head = f"# Model card: {_plain(about['data'])}, {_plain(what)}\n\n{_plain(about['verdict'])}\n"
    return head + "".join(f"\n## {title}\n\n{text.strip()}\n" for title, text in sections.items())


def _quality(about: Mapping[str, Any]) -> str:
    score = about["score"]
    rows = [
        ("this model", readable(score["value"]), f"{readable(score['low'])} to {readable(score['high'])}"),
        ("the best constant answer", readable(score["baseline"]), ""),
    ]
    text = _table((" ", score["name"], "95 % interval"), rows)
    whose = "machines trained on the others, chosen as the model was"
    if about["scored_on"] < about["objects"]:
        whose = "the model itself or machines made like it"
    text += f"\nEstimated on {about['scored_on']:,} objects by {whose}: none had seen the object it was asked about.\n"
    figures = about.get("figures")
    if isinstance(figures, list):
        cells = [
            (one["name"], f"{one['objects']:,}", f"{100 * one['recall']:.1f} %", f"{100 * one['precision']:.1f} %")
            for one in figures
        ]
        text += "\n" + _table(("class", "objects", "recognised", "right when predicted"), cells)
    errors = about.get("errors")
    if errors:
        spans = ", ".join(f"{level} % within {_span(size, about.get('link'))}" for level, size in errors.items())
        text += f"\nErrors: {spans}.\n"
    return text


def _span(size: float, link: object) -> str:
    """The size of an error; a factor if logarithms were learnt."""
    return f"a factor of {readable(math.exp(size))}" if link else readable(size)


def _origin(model: TrainedModel) -> str:
    about, kind = model.about, model.preparation.kind
    text = f"{about['objects']:,} {NOUNS[kind]}s of {about['data']} ({about['format']})."
    figures = about.get("figures")
    if isinstance(figures, Mapping):
        text += f" {about['target'] or 'The target'} ranges from {readable(figures['least'])} to "
        text += f"{readable(figures['largest'])}, with a mean of {readable(figures['mean'])}."
    for name, words in (
        ("weight", "Rows counted by"),
        ("group", "Rows stayed together in folds by"),
        ("time", "Folds followed the time in"),
    ):
        text += f" {words} `{about[name]}`." if about.get(name) else ""
    columns = [(name, own) for name, own in model.preparation.columns if own != OBJECT]
    text = _plain(text) + "\n"
    if columns:
        shown = _table(("column", "kind"), columns[:_MOST_COLUMNS])
        more = len(columns) - _MOST_COLUMNS
        text += "\n" + shown + (f"\nand {more:,} more columns.\n" if more > 0 else "")
    return text + "".join(f"\n- {_plain(note)}" for note in about.get("notes", ()))


def _making(model: TrainedModel) -> str:
    about, proof = model.about, model.machine.certificate
    machine = f"{model.machine.name} with {about['penalty_name']} = {about['penalty']:g}"
    lines = [
        f"Machine: {machine}, trained on {about['trained_on']:,} objects, of which it keeps {about['support']:,}.",
        f"Kernel: `{about['kernel']}`, chosen on {about['searched_on']:,} objects by {about['score']['name']}.",
        f"Certificate: the objective is within {100 * max(proof.relative_gap, 0.0):.2g} % of the optimum.",
        *([f"Threshold: `{about['threshold']}`."] if about.get("threshold") else []),
        *([f"Command: `{about['command']}`"] if about.get("command") else []),
        f"Seed {about['seed']}; " + ", ".join(f"{name} {one}" for name, one in about["versions"].items()) + ".",
    ]
    return "".join(f"- {_plain(line)}\n" for line in lines)


def _limits(model: TrainedModel) -> str:
    """Limitations that follow from the figures, and general ones."""
    about, found = model.about, []
    score = about["score"]
    if score["low"] <= score["baseline"] <= score["high"]:
        found.append("The interval contains the score of a constant answer: the model may know nothing.")
    figures = about.get("figures")
    if isinstance(figures, list):
        weak = [f"{one['name']} ({100 * one['recall']:.0f} %)" for one in figures if one["recall"] < 0.6]
        found += [f"Classes that it seldom recognises: {', '.join(weak)}."] if weak else []
        found += [] if model.calibration.size else ["It gives no probabilities: a class was too rare."]
    unlike = "objects unlike those it was trained on are marked in its answers (`unlike_training`): trust them less"
    found.append(unlike[0].upper() + unlike[1:] + ".")
    found.append("The score holds for objects from the same source. Other places, years or instruments need a new one.")
    found.append("Nobody has looked at what its errors mean for the people concerned: add that here.")
    return "".join(f"- {_plain(line)}\n" for line in found)


def _use(model: TrainedModel, path: str) -> str:
    new = "new.csv" if model.preparation.kind == "table" else "new-objects"
    commands = f"$ mercer predict {path} {new}\n$ mercer evaluate {path} labelled-{new}\n$ mercer serve {path}"
    return (
        f"```console\n{commands}\n```\n\n"
        f"```python\nimport mercer\n\nmodel = mercer.load({path!r})\n"
        f"model.predict({'frame' if model.preparation.kind == 'table' else 'objects'})\n```\n"
    )


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join("| " + " | ".join(_plain(str(cell)).replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _plain(text: object) -> str:
    """One line, with HTML escaped."""
    return " ".join(str(text).split()).replace("<", "&lt;")
