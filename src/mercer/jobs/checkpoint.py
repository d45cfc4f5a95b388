"""The finished part of a search, kept in a small file next to the model until the model is written."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import zipfile
from collections.abc import Callable
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._parsing import undisturbed
from mercer._version import __version__
from mercer.errors import InputError
from mercer.inputs.base import Objects
from mercer.jobs.metric_formulas import Answers
from mercer.jobs.problem import Problem
from mercer.kernels.base import Kernel
from mercer.selection.trials import Trial
from mercer.storage.atomic import replacing

Heard = Callable[[Kernel, list[Trial]], None]
_PARTS = ("fold_scores", "predicted", "decisions")
_ANSWERS = tuple(field.name for field in dataclasses.fields(Answers))


@final
@dataclasses.dataclass(frozen=True, eq=False)
class Compared:
    """What a setting was worth on a part of very many objects."""

    score: float
    answers: Answers
    seconds: float


@final
class Checkpoint:
    """Finished kernels with all their penalties, for one file and one plan; refused for any other."""

    def __init__(self, path: str, *, resume: bool, heard: Heard = lambda kernel, trials: None) -> None:
        """`heard` is called for every finished kernel, including those that an earlier search finished."""
        self.path = path
        self.total = 0
        self._resume = resume
        self._heard = heard
        self._mark = ""
        self._kept: dict[str, list[Trial]] = {}
        self._left: dict[str, list[tuple[Any, ...]]] = {}
        """Trials of an earlier search, without their kernels, that this one has not used yet."""
        self._compared: dict[str, Compared] = {}

    def __len__(self) -> int:
        return len(self._kept) + len(self._left)

    def begin(self, problem: Problem) -> str:
        """Register the search. If an earlier one is to be resumed, read its results, and return a sentence about it."""
        self._mark, self.total = mark_of(problem), len(problem.kernels)
        if not self._resume:
            return ""
        if not os.path.exists(self.path):
            return f"There is nothing to resume at {self.path}: the search starts from the beginning."
        self._left = self._read()
        first = [kernel for kernel in problem.kernels if repr(kernel) in self._left]
        for kernel in first:
            self._heard(kernel, self.recall(kernel) or [])
        return f"Resumed: {len(first)} of {self.total} kernels were finished already."

    def recall(self, kernel: Kernel) -> list[Trial] | None:
        key = repr(kernel)
        if key in self._left:  # kernels are identified by text, since some are created only later in a search
            self._kept[key] = [Trial(kernel, *parts) for parts in self._left.pop(key)]
        return self._kept.get(key)

    def keep(self, kernel: Kernel, trials: list[Trial]) -> None:
        """Keep a kernel, and write all that are finished: an interrupt loses only the current kernel."""
        self._kept[repr(kernel)] = trials
        self.total = max(self.total, len(self))  # some kernels are created during a search
        self.write()
        self._heard(kernel, trials)

    def recall_compared(self, key: str) -> Compared | None:
        """A setting that was trained on a part of the objects before."""
        return self._compared.get(key)

    def keep_compared(self, key: str, found: Compared) -> None:
        """Keep it, and write all that is finished."""
        self._compared[key] = found
        self.write()

    def write(self) -> None:
        """Write what is finished, if there is anything."""
        if not self._kept:
            return
        trials = [(key, _parts(trial)) for key, kept in self._kept.items() for trial in kept]
        trials += [(key, parts) for key, left in self._left.items() for parts in left]
        about = [{"kernel": key, "penalty": parts[0], "seconds": parts[-1]} for key, parts in trials]
        arrays = {
            f"{number}/{name}": array
            for number, (_, parts) in enumerate(trials)
            for name, array in zip(_PARTS, parts[1:-1], strict=True)
        }
        compared = [{"key": key, "score": one.score, "seconds": one.seconds} for key, one in self._compared.items()]
        for number, one in enumerate(self._compared.values()):
            parts_of = {name: getattr(one.answers, name) for name in _ANSWERS}
            arrays |= {f"compared/{number}/{name}": part for name, part in parts_of.items() if part is not None}
        head = json.dumps({"mark": self._mark, "trials": about, "compared": compared})
        with replacing(self.path) as stream:
            np.savez(stream, about=np.array(head), **arrays)

    def remove(self) -> None:
        """Delete the file: once the model is written, there is nothing to resume."""
        with contextlib.suppress(OSError):
            os.unlink(self.path)

    @undisturbed
    def _read(self) -> dict[str, list[tuple[Any, ...]]]:
        try:
            with np.load(self.path, allow_pickle=False) as stored:
                head = json.loads(str(stored["about"]))
                if head["mark"] == self._mark:
                    found: dict[str, list[tuple[Any, ...]]] = {}
                    for number, told in enumerate(head["trials"]):
                        scores, predicted, decisions = (stored[f"{number}/{part}"] for part in _PARTS)
                        trial = float(told["penalty"]), scores, predicted, decisions, float(told["seconds"])
                        found.setdefault(str(told["kernel"]), []).append(trial)
                    for number, told in enumerate(head.get("compared", ())):
                        own = {name: f"compared/{number}/{name}" for name in _ANSWERS}
                        answers = Answers(**{name: stored[key] for name, key in own.items() if key in stored})
                        one = Compared(float(told["score"]), answers, float(told["seconds"]))
                        self._compared[str(told["key"])] = one
                    return found
        except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
            raise _refused(f"{self.path} cannot be resumed from: it is damaged, or is no search.") from error
        raise _refused(f"{self.path} belongs to a search on other data or with other options.")


def _parts(trial: Trial) -> tuple[Any, ...]:
    """A trial without its kernel."""
    return trial.penalty, trial.fold_scores, trial.predicted, trial.decisions, trial.seconds


def _refused(message: str) -> InputError:
    error = InputError(message)
    error.add_note("Without --resume the search starts from the beginning.")
    return error


def mark_of(problem: Problem) -> str:
    """A digest of everything that the outcome of a search depends on."""
    data, objects = problem.data, problem.objects
    told = {
        **dataclasses.asdict(problem.plan),
        "time_limit": None,
        "version": __version__,
        "link": problem.link.name,
        "kernels": list(map(repr, problem.kernels)),
    }
    digest = hashlib.sha256(json.dumps(told, sort_keys=True).encode())
    beside = {"labels": data.labels, "groups": data.groups, "weights": data.weights, "times": data.times}
    arrays: dict[str, npt.NDArray[Any]] = {
        key: np.asarray(values) for key, values in beside.items() if values is not None
    }
    if data.kind == "table":
        arrays |= {f"{column.kind}/{key}": column.values for key, column in data.objects.items()}
    elif isinstance(objects, Objects):
        arrays |= objects.to_arrays()
    else:
        arrays["objects"] = np.asarray(objects)
    for key, array in arrays.items():
        digest.update(f"{key}/{array.dtype}/{array.shape}/".encode())
        plain = array.dtype.kind != "O"
        digest.update(np.ascontiguousarray(array).tobytes() if plain else json.dumps(array.tolist()).encode())
    return digest.hexdigest()
