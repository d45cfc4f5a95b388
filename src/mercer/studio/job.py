"""One search in a process of its own: ``python -m mercer.studio.job FOLDER``.

It reads plan.json, does what `mercer fit` does, and appends what happens to events.jsonl. It ends when its stdin does,
so that no search outlives its server; what it has finished can be resumed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from mercer.errors import MercerError
from mercer.jobs.checkpoint import Checkpoint
from mercer.jobs.fitting import fit
from mercer.jobs.problem import Plan
from mercer.kernels.base import Kernel
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.report import write
from mercer.selection.trials import Trial
from mercer.storage import save
from mercer.studio.projects import read_json, write_json
from mercer.studio.refusal import Refusal
from mercer.studio.workbench.command import options_of, plan_of
from mercer.studio.workbench.result import result
from mercer.theory.showing import plain

_BETWEEN = 0.15
"""Seconds between two lines of progress: a page cannot show more."""


class Events:
    """The file of events, written line by line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._last = 0.0

    def tell(self, kind: str, **more: Any) -> None:
        """One line, written in one call, so that lines never mix."""
        line = json.dumps(plain({"type": kind, "time": time.time(), **more}), allow_nan=False)
        with open(self._path, "ab", buffering=0) as stream:
            stream.write(line.encode() + b"\n")

    def progress(self, fraction: float, note: str) -> None:
        """Report how far the search is, unless the last line is too recent."""
        if time.monotonic() - self._last >= _BETWEEN:
            self._last = time.monotonic()
            self.tell("progress", fraction=fraction, note=note)

    def kernel(self, kernel: Kernel, trials: list[Trial]) -> None:
        """Report a finished kernel with its best penalty."""
        best = max(trials, key=lambda trial: trial.score)
        scores = {"score": best.score, "spread": float(best.fold_scores.std()), "folds": best.fold_scores.tolist()}
        self.tell("kernel", kernel=str(kernel), penalty=best.penalty, seconds=best.seconds, **scores)


def run(folder: Path) -> None:
    """The whole search, from the plan to the model, the report and the result."""
    told, events = read_json(folder / "plan.json"), Events(folder / "events.jsonl")
    partial = folder / "model.mercer.partial"
    checkpoint = Checkpoint(str(partial), resume=partial.exists(), heard=events.kernel)
    try:
        options, plan = options_of(told), plan_of(told)
        _search(folder, (str(told["path"]), options, plan), events, checkpoint)
    except KeyboardInterrupt:
        events.tell("stopped", kept=len(checkpoint))
    except MercerError as error:
        notes = " ".join(getattr(error, "__notes__", ()))
        events.tell("failed", message=" ".join(f"{Refusal.of(error)} {notes}".split()))
    except Exception as error:
        sys.excepthook(type(error), error, error.__traceback__)
        events.tell("failed", message=f"Something unexpected went wrong: {type(error).__name__}: {error}")


def _search(folder: Path, asked: tuple[str, Options, Plan], events: Events, checkpoint: Checkpoint) -> None:
    path, options, plan = asked
    from mercer.studio.workbench.command import command_line

    events.tell("reading")
    data = read(path, options)
    outcome = fit(data, plan, command=command_line(path, options, plan), report=events.progress, checkpoint=checkpoint)
    events.tell("writing")
    write(outcome, folder / "report.html")
    write_json(folder / "result.json", plain(result(outcome, path, options)))
    save(outcome.model, folder / "model.mercer")
    checkpoint.remove()
    events.tell("finished", seconds=outcome.seconds)


def _end_with_the_server() -> None:
    """Wait for the end of stdin, then interrupt the search as Ctrl-C would."""
    while os.read(0, 4096):
        pass
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(5.0)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Search in the folder that the command line names."""
    threading.Thread(target=_end_with_the_server, daemon=True).start()
    run(Path(sys.argv[1]))


if __name__ == "__main__":
    main()
