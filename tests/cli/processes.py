"""Mercer as a process of its own, as a shell starts it."""

import os
import subprocess
import sys
from pathlib import Path

import mercer

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(mercer.__file__).parents[1])}


def mercer_process(*arguments, **more):
    command = [sys.executable, "-m", "mercer", *arguments]
    return subprocess.Popen(command, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True, **more)
