"""`python -m mercer` from its first moment."""

import os
import subprocess
import sys
from pathlib import Path

import mercer

SOURCE = Path(mercer.__file__).parents[1]


def test_an_interrupt_while_the_command_line_is_imported() -> None:
    script = (
        "import sys\n"
        "class Interrupting:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupting())\n"
        "from mercer.__main__ import main\n"
        "main()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    told = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (told.returncode, told.stdout, told.stderr) == (130, "", "error: interrupted\n")
