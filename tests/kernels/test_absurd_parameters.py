"""Parameters that multiply work are bounded: an absurd one is refused, or makes no more work than a sensible one.

They may come from a file by a stranger. Everything runs in one process of its own, with limits on time and memory.
"""

import dataclasses
import json
import os
import subprocess
import sys

import pytest

from mercer._registry import KERNELS
from mercer.testing.examples import examples_of

SCRIPT = """
import json, resource, sys, warnings
from dataclasses import replace
warnings.simplefilter("ignore")
from mercer._registry import KERNELS
from mercer.errors import MercerError
from mercer.testing.examples import examples_of
from mercer.testing.samples import objects_for
GIB = 2**30
resource.setrlimit(resource.RLIMIT_AS, (6 * GIB, 6 * GIB))  # addresses; BLAS and LLVM reserve some
answers = {}
for name, field, value in json.load(sys.stdin):
    kernel = next(iter(examples_of(KERNELS[name].load())))
    sample = next(iter(objects_for(kernel).values())).take(slice(0, 4))
    try:
        replace(kernel, **{field: value}).fit(sample)(sample)
        answer = "computed"
    except MercerError as error:
        answer = "refused"
    except BaseException as error:
        answer = repr(error)[:200]
    print(json.dumps([f"{name}.{field}={value}", answer]), flush=True)
"""


def whole_numbers():
    """The parameters of kernels that are whole numbers, apart from seeds and places."""
    for name, entry in KERNELS.items():
        kernel = next(iter(examples_of(entry.load())), None)
        for field in dataclasses.fields(kernel) if kernel is not None else ():
            value = getattr(kernel, field.name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if (whole or (value is None and "int" in str(field.type))) and field.name != "random_state":
                yield name, field.name


@pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of memory are those of POSIX")
def test_every_whole_number_has_a_bound_or_costs_nothing():
    cases = [(name, field, value) for name, field in whole_numbers() for value in (10**9, 2**62)]
    assert len(cases) > 40
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], input=json.dumps(cases), capture_output=True, text=True, timeout=240,
        env={**os.environ, "MERCER_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    answers = dict(json.loads(line) for line in ended.stdout.splitlines())
    assert {case: answer for case, answer in answers.items() if answer not in ("computed", "refused")} == {}
    assert len(answers) == len(cases), (ended.stdout.splitlines()[-1:], ended.stderr[-2000:])
