"""Server, search, or both are killed at random moments: nothing finished is searched again, and the model stays."""

import http.client
import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from mercer.studio.projects import read_events
from tests.cli.processes import mercer_process
from tests.studio.test_serving import free_port
from tests.studio.test_workbench_routes import TABLE, same

PATIENCE = 60.0  # seconds for anything that takes one on an idle machine


class Studio:
    """A real server that can be killed and started again on the same home."""

    def __init__(self, home):
        self.home = home
        self.start()

    def start(self):
        self.process = mercer_process(
            "studio", "--no-browser", "--port", str(free_port()), "--home", str(self.home), stdout=subprocess.PIPE
        )
        found = re.search(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]+)", self.process.stdout.readline())
        self.port, self.token = int(found[1]), found[2]

    def kill(self):
        self.process.kill()
        self.process.communicate(timeout=30)

    def ask(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=240)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {self.token}"})
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status == 200, content
            return json.loads(content)
        finally:
            connection.close()


def searching(folder):
    """Ids of the processes that search in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if str(folder).encode() in words:
            found.append(int(path.parent.name))
    return found


def until(held, what):
    end = time.monotonic() + PATIENCE
    while not held():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def kernels_of(folder):
    """For each kernel that was told, what was told of it: a kernel that is searched again takes another time."""
    told = {}
    for event in read_events(folder / "events.jsonl")[0]:
        if event["type"] == "kernel":
            told.setdefault(event["kernel"], set()).add((event["score"], event["penalty"], event["seconds"]))
    return told


@pytest.mark.long
@pytest.mark.timeout(1200)
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="no-run: processes are found in /proc")
def test_killed_at_fifty_moments(tmp_path):
    moments, rng = 50, random.Random(50)
    studio = Studio(tmp_path)
    try:
        project = studio.ask("PUT", "/api/projects?name=table.csv", TABLE.encode())["id"]
        place = f"/api/projects/{project}/jobs"

        def begun():
            return studio.ask("POST", place, json.dumps({"target": "kind"}))["id"]

        def state(job):
            return studio.ask("GET", f"{place}/{job}")["state"]

        def undisturbed(job):
            until(lambda: state(job) != "running", "the search does not end")
            told = studio.ask("GET", f"{place}/{job}")
            assert told["state"] == "finished"
            return told["result"]

        began = time.monotonic()
        whole = undisturbed(begun())
        span = 1.1 * (time.monotonic() - began)
        job, killed, finished = begun(), {"server": 0, "search": 0, "both": 0}, 0
        while sum(killed.values()) < moments:
            folder = tmp_path / project / "jobs" / job
            now = state(job)
            if now == "finished":
                assert same(studio.ask("GET", f"{place}/{job}")["result"], whole)
                finished += 1
                job = begun()
                continue
            if now != "running":
                assert now in ("stopped", "interrupted")
                studio.ask("POST", f"{place}/{job}/resume")
            time.sleep(rng.uniform(0.0, span))
            victim = rng.choice(list(killed))
            killed[victim] += 1
            before = kernels_of(folder)
            if victim != "server":
                for process in searching(folder):
                    os.kill(process, signal.SIGKILL)
            if victim != "search":
                studio.kill()
                until(lambda folder=folder: not searching(folder), "a search outlives its server")
                studio.start()
            else:
                until(lambda job=job: state(job) != "running", "a killed search is still running")
            after = kernels_of(folder)
            assert set(before) <= set(after)
            assert all(len(told) == 1 for told in after.values()), "a finished kernel was searched again"
        if state(job) in ("stopped", "interrupted"):
            studio.ask("POST", f"{place}/{job}/resume")
        assert same(undisturbed(job), whole)
        assert all(len(told) == 1 for told in kernels_of(tmp_path / project / "jobs" / job).values())
        assert finished > 5
        assert min(killed.values()) > 5
    finally:
        studio.kill()
