"""Claims on tiles: exclusive among threads and processes, released by death, patient only as long as the time limit."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import mercer
from mercer import _deadline
from mercer.errors import TimeLimitError
from mercer.kernels.memory import claims
from mercer.kernels.memory.claims import claims_in

HOLDER = """
import pathlib, sys, time
from mercer.kernels.memory.claims import claims_in
with claims_in(pathlib.Path(sys.argv[1])).held(3):
    print("held", flush=True)
    time.sleep(120)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds place 3."""
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(mercer.__file__))}
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.wait(30)
    process.stdout.close()


@pytest.mark.skipif(sys.platform == "win32", reason="no locks of bytes")
def test_processes_exclude_each_other_until_one_dies(tmp_path, holder):
    mine = claims_in(tmp_path)
    with mine.held(2), mine.held(4):  # other places are free
        pass
    began = time.monotonic()
    with pytest.raises(TimeLimitError, match="another process"), _deadline.limited(0.1), mine.held(3):
        pass
    assert time.monotonic() - began < 3
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: mine.held(3).__enter__())
        time.sleep(0.1)
        assert not waiting.done()
        holder.send_signal(signal.SIGKILL)
        waiting.result(30)


def test_threads_exclude_each_other(tmp_path):
    inside = []

    def work(number):
        with claims_in(tmp_path).held(7):
            inside.append(number)
            time.sleep(0.002)
            assert inside == [number]
            inside.clear()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(20)))


def test_a_folder_that_is_deleted_or_cannot_be_locked(tmp_path, monkeypatch):
    folder = tmp_path / "values"
    with claims_in(folder).held(0):  # there is no such folder
        pass
    folder.mkdir()
    with claims_in(folder).held(0):
        (folder / "claims").unlink()
        with claims_in(folder).held(1):
            assert (folder / "claims").exists()
    with claims_in(folder).held(0):
        pass

    def refused(*arguments):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(claims.fcntl, "lockf", refused)
    with claims_in(folder).held(0):
        pass
