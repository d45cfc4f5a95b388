"""`mercer studio` as a process: it serves, stays small, imports no Numba, and ends on Ctrl-C."""

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mercer.studio.serving import listening
from tests.cli.processes import ENVIRONMENT, mercer_process

MOST_MEMORY = 80_000  # kB of the server itself


def free_port():
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return place.getsockname()[1]


@pytest.fixture(scope="module")
def server():
    process = mercer_process("studio", "--no-browser", "--port", str(free_port()), stdout=subprocess.PIPE)
    try:
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]+)", process.stdout.readline())
        assert found
        yield process, int(found[1]), found[2]
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=30)


def ask(server, method, path, body=None):
    _, port, token = server
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=240)
    try:
        connection.request(method, path, body, {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_the_page_and_a_picture(server):
    status, page = ask(server, "GET", "/")
    assert status == 200
    assert b"Mercer Studio" in page
    points = [[-1, -1, 0], [1, 1, 0], [-1, 1, 1], [1, -1, 1]]
    status, end = 202, time.monotonic() + 240
    while status == 202 and time.monotonic() < end:  # asked again as long as loops are compiled
        began = time.monotonic()
        status, told = ask(server, "POST", "/api/lab/picture", json.dumps({"points": points}))
        assert time.monotonic() - began < 10  # five on an idle machine
    assert status == 200
    assert json.loads(told)["machine"]["support"] == [0, 1, 2, 3]
    assert json.loads(ask(server, "GET", "/api/hello")[1])["warm"]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no-run: memory is read from /proc")
def test_the_server_is_small(server):
    ask(server, "GET", "/api/hello")
    status = Path(f"/proc/{server[0].pid}/status").read_text()
    assert int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) < MOST_MEMORY


def test_ctrl_c_ends_it_and_its_worker(server):
    process = server[0]
    ask(server, "GET", "/api/hello")
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode in (0, 130)
    assert "Traceback" not in said


def test_a_file_becomes_a_project_that_is_opened(tmp_path):
    path = tmp_path / "my pets.csv"
    path.write_text("a,b,kind\n1,2,x\n3,4,y\n")
    process = mercer_process(
        "studio", str(path), "--no-browser", "--port", str(free_port()), "--home", str(tmp_path / "home"),
        stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        address = process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]+)&/workbench/(\w+)$", address.strip())
        assert found, address
        status, told = ask((process, int(found[1]), found[2]), "GET", f"/api/projects/{found[3]}")
        assert (status, json.loads(told)["name"]) == (200, path.name)
        path.write_text("changed")
        copy = next((tmp_path / "home" / found[3] / "data").iterdir())
        assert copy.read_text().startswith("a,b,kind")
    finally:
        process.kill()
        process.communicate(timeout=30)


def test_the_server_imports_no_numba():
    program = "import mercer.studio.serving, sys; print(sorted(set(sys.modules) & {'numba', 'scipy', 'sklearn'}))"
    run = subprocess.run([sys.executable, "-c", program], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_a_port_that_is_taken_is_left_alone():
    with listening(None) as first, listening(None) as second:
        assert first.getsockname()[1] != second.getsockname()[1]
        with pytest.raises(OSError, match=r"use|Address"):
            listening(first.getsockname()[1])
