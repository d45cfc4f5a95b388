"""Saving replaces a file whole or not at all."""

import errno
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import mercer
from mercer import _atomic as atomic
from mercer.errors import ModelFileError
from mercer.storage.atomic import replacing
from tests.storage.samples import fitted

POSIX = pytest.mark.skipif(os.name == "nt", reason="permissions and signals of POSIX")


@pytest.fixture
def model():
    return fitted("dense")[0]


def test_replaces_and_leaves_nothing_behind(tmp_path, model):
    path = tmp_path / "model with space.anything"
    path.write_bytes(b"old")
    mercer.save(model, str(path))
    mercer.load(path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_failure_keeps_the_old_file(tmp_path, model, monkeypatch, failing):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, failing, full)
    with pytest.raises(ModelFileError, match=r"model.*No space left.*is intact"):
        mercer.save(model, path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupt_while_the_file_is_opened_leaves_nothing(tmp_path, monkeypatch):
    def opened(*arguments):
        open(*arguments).close()
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic, "open", opened, raising=False)

    def interrupted():
        with replacing(tmp_path / "model"):
            pytest.fail("it was opened")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert not list(tmp_path.iterdir())


def test_interrupt_keeps_the_old_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def interrupted():
        with replacing(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@POSIX
def test_permissions(tmp_path, model):
    path = tmp_path / "model"
    before = os.umask(0o027)
    try:
        mercer.save(model, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    mercer.save(model, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@POSIX
def test_a_link_stays_a_link(tmp_path, model):
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "model", tmp_path / "link"
    link.symlink_to(target)
    mercer.save(model, link)
    mercer.save(model, link)
    assert link.is_symlink()
    assert target.is_file()
    mercer.load(link)


def test_bad_places(tmp_path, model):
    with pytest.raises(ModelFileError, match="it is a folder"):
        mercer.save(model, tmp_path)
    with pytest.raises(ModelFileError, match=r"absent.*No such file"):
        mercer.save(model, tmp_path / "absent" / "model")
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ModelFileError):
        mercer.save(model, tmp_path / "file" / "model")
    with pytest.raises(ModelFileError, match="No such file"):
        mercer.load(tmp_path / "absent")
    with pytest.raises(ModelFileError, match="it is a folder"):
        mercer.load(tmp_path)
    with pytest.raises(ModelFileError):
        mercer.load("nul\0inside")
    with pytest.raises(ModelFileError):
        mercer.save(model, "nul\0inside")


@POSIX
def test_devices_and_pipes_are_refused(tmp_path, model):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path(os.devnull)):
        with pytest.raises(ModelFileError, match="device or a pipe"):
            mercer.load(path)
        with pytest.raises(ModelFileError, match="device or a pipe"):
            mercer.save(model, path)


def test_write_protected(tmp_path, model, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", lambda *_: False)  # the superuser may write anywhere
    with pytest.raises(ModelFileError, match="write-protected"):
        mercer.save(model, path)
    assert path.read_bytes() == b"old"


KILLED = """
import os, sys
from mercer import _atomic as atomic
from mercer.storage import format
import numpy as np
path, moment = sys.argv[1:]
def wait(*_):
    print("now", flush=True)
    sys.stdin.read()
if moment != "write":
    setattr(os, moment, wait)
with atomic.replacing(path) as stream:
    if moment == "write":
        stream.write(b"x" * 100_000)
        stream.flush()
        wait()
    format.write(stream, {"a": 1}, {"a": np.zeros(2_000_000)})
"""


@POSIX
@pytest.mark.parametrize("moment", ["write", "fsync", "replace"])
def test_kill_keeps_the_old_file(tmp_path, moment):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    command = [sys.executable, "-c", KILLED, str(path), moment]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"


SAVING = """
import os, signal, sys, time
import mercer

path = sys.argv[1]
model = mercer.load(path)
with open(path, "rb") as file:
    content = file.read()
for delay in (0.0, 0.013, 0.05):
    begun, tell = os.pipe()
    child = os.fork()
    if not child:
        os.write(tell, b"now")
        while True:
            mercer.save(model, path)
    os.read(begun, 3)
    time.sleep(delay)
    os.kill(child, signal.SIGKILL)
    _, ended = os.waitpid(child, 0)
    with open(path, "rb") as file:
        print(os.WTERMSIG(ended), file.read() == content)
"""


@POSIX
def test_kill_at_any_moment_leaves_a_whole_file(tmp_path, model):
    path = tmp_path / "model"
    mercer.save(model, path)
    ended = subprocess.run([sys.executable, "-c", SAVING, str(path)], capture_output=True, text=True, timeout=120)
    assert ended.stdout.splitlines() == [f"{signal.SIGKILL.value} True"] * 3, ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: there are no such locks on Windows")
def test_what_a_killed_writer_left_is_swept_and_a_living_one_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(atomic, "_SECONDS_TO_LOCK", -1.0)
    target = tmp_path / "p.csv"
    dead = tmp_path / f".p.csv.{'0' * 16}.tmp"
    others = [tmp_path / name for name in (".p.csv.tmp", f".q.csv.{'0' * 16}.tmp", ".p.csv.0000.tmp")]
    for path in (dead, *others):
        path.write_text("half")
    with replacing(target) as alive:
        alive.write(b"first")
        beside = set(tmp_path.iterdir()) - {dead, *others}
        with replacing(target) as second:  # sweeps, and finds the lock of the first
            second.write(b"second")
        assert beside <= set(tmp_path.iterdir())
    assert target.read_bytes() == b"first"
    assert set(tmp_path.iterdir()) == {target, *others}


def test_a_young_file_may_not_be_locked_yet(tmp_path):
    young = tmp_path / f".p.csv.{'0' * 16}.tmp"
    young.write_text("begun just now")
    with replacing(tmp_path / "p.csv") as stream:
        stream.write(b"whole")
    assert young.exists()
