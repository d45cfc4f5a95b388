"""`mercer diagnose`."""

from __future__ import annotations

import numpy as np

from mercer._version import __version__
from mercer.cli import output
from mercer.jobs.candidates import candidates, lifted
from mercer.jobs.fitting import Plan, task_of
from mercer.jobs.preparation import Preparation
from mercer.kernels.expression import parse
from mercer.readers.options import Options
from mercer.readers.reading import read
from mercer.theory.diagnosis import diagnose


def run(path: str, reading: Options, plan: Plan, *, as_json: bool, quiet: bool) -> None:
    """Judge one kernel on a file; without a name, the one that would be tried second, after the plainest."""
    data = read(path, reading)
    assert data.labels is not None
    notes = list(data.notes)
    task = task_of(data.labels, plan.task, notes)
    y = data.labels if task == "classification" else np.asarray(data.labels, dtype=np.float64)
    preparation = Preparation.learn(data, scale=plan.scale, impute=plan.impute)
    objects = preparation(data)
    if preparation.kind == "gram":
        found = diagnose(np.asarray(objects), y=y, random_state=plan.seed)
    else:
        tried = candidates(objects, preparation)
        usual = tried[min(1, len(tried) - 1)]
        kernel = usual if plan.kernel == "auto" else lifted(parse(plan.kernel), preparation)
        found = diagnose(kernel, objects, y, random_state=plan.seed)
    if as_json:
        told = {"command": "diagnose", "version": __version__, "data": data.name, "notes": notes}
        output.write_json({**told, "diagnosis": found.to_dict()})
        return
    if not quiet:
        for note in notes:
            output.write_text(f"- {note}")
        if notes:
            print()
    print(found)
