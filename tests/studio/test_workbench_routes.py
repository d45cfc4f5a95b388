"""The workbench from a file to a prediction, over real processes; cancelled, killed and resumed on the way."""

import asyncio
import json
import os
import random
import signal
import time

import numpy as np
import pytest

import mercer
from mercer.studio import bodies
from mercer.studio.projects import read_events
from mercer.studio.server import application
from tests.studio.asgi import HOST_ONLY, OWN, TOKEN, DeskWorker, exchange

TABLE = "a,b,kind\n" + "".join(
    f"{n * 37 % 101},{n * 53 % 89},{'yes' if n * 37 % 101 > 50 else 'no'}\n" for n in range(60)
)


class Client:
    """Requests to one application, all in one event loop."""

    def __init__(self, home):
        self.home = home
        self.app = application(TOKEN, DeskWorker(), home)

    async def ask(self, method, path, told=None, *, body=b"", query="", status=200):
        content = body if told is None else json.dumps(told).encode()
        answer = await exchange(self.app, method, path, headers=OWN, body=content, query=query)
        assert answer.status == status, answer.body
        return answer.json() if answer.body else None

    async def upload(self, content=TABLE, name="table.csv"):
        return (await self.ask("PUT", "/api/projects", body=content.encode(), query=f"name={name}"))["id"]

    async def start(self, project, **plan):
        return (await self.ask("POST", f"/api/projects/{project}/jobs", {"target": "kind", **plan}))["id"]

    async def finished(self, project, job):
        """Follow the events to their end."""
        await exchange(self.app, "GET", f"/api/projects/{project}/jobs/{job}/events", headers=OWN)
        return await self.ask("GET", f"/api/projects/{project}/jobs/{job}")


def run(coroutine, home):
    return asyncio.run(coroutine(Client(home)))


def test_from_a_file_to_a_prediction(tmp_path):
    async def go(client):
        project = await client.upload()
        told = await client.ask("POST", f"/api/projects/{project}/describe", {"target": "kind"})
        assert (told["kind"], told["task"]) == ("table", "classification")
        job = await client.start(project, kernel="rbf")
        assert (await client.ask("GET", "/api/projects"))["projects"][0]["latest"]["state"] == "running"
        done = await client.finished(project, job)
        assert done["state"] == "finished"
        assert done["result"]["score"]["value"] > 0.8
        place = f"/api/projects/{project}/jobs/{job}"
        told = await client.ask("PUT", f"{place}/predict", body=b"a,b\n99,5\n2,5\n", query="name=new.csv")
        assert [one["prediction"] for one in told["predictions"]] == ["yes", "no"]
        told = await client.ask("PUT", f"{place}/predict", body=b"c,d\n99,5\n", status=422)
        assert "new" not in told["error"]["message"] or str(client.home) not in told["error"]["message"]
        address = (await client.ask("POST", f"{place}/sign", {"what": "model"}))["address"]
        path, _, query = address.partition("?")
        answer = await exchange(client.app, "GET", path, headers=HOST_ONLY, query=query)
        (client.home / "got.mercer").write_bytes(answer.body)
        assert mercer.load(client.home / "got.mercer").predict({"a": [99.0], "b": [5.0]}).tolist() == ["yes"]
        refused = await exchange(client.app, "GET", path, headers=HOST_ONLY, query=query + "0")
        assert refused.status == 403
        report = (await client.ask("POST", f"{place}/sign", {"what": "report"}))["address"]
        path, _, query = report.partition("?")
        answer = await exchange(client.app, "GET", path, headers=HOST_ONLY, query=query)
        assert answer.headers["content-security-policy"].startswith("sandbox;")
        await client.ask("DELETE", f"/api/projects/{project}")
        assert list(client.home.glob("*/project.json")) == []

    run(go, tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The result of a search that nobody disturbed."""

    async def go(client):
        project = await client.upload()
        return (await client.finished(project, await client.start(project)))["result"]

    return run(go, tmp_path_factory.mktemp("whole"))


def test_cancel_and_resume_give_the_same_model(tmp_path, whole):
    async def go(client):
        project = await client.upload()
        job = await client.start(project)
        folder = client.home / project / "jobs" / job
        while not [event for event in read_events(folder / "events.jsonl")[0] if event["type"] == "kernel"]:
            await asyncio.sleep(0.05)
        began = time.monotonic()
        told = await client.ask("POST", f"/api/projects/{project}/jobs/{job}/cancel")
        assert time.monotonic() - began < 5  # half a second on an idle machine
        assert told["state"] in ("stopped", "interrupted")
        await client.ask("POST", f"/api/projects/{project}/jobs/{job}/resume")
        done = await client.finished(project, job)
        assert done["state"] == "finished"
        assert same(done["result"], whole)
        attempts = [event["attempt"] for event in read_events(folder / "events.jsonl")[0] if event["type"] == "started"]
        assert attempts == [1, 2]

    run(go, tmp_path)


def same(one, other):
    return all(one[key] == other[key] for key in ("kernel", "penalty", "score", "verdict", "support"))


def test_killed_at_any_moment_it_loses_no_finished_kernel(tmp_path, whole):
    """The search, or the server's end of its pipe, is killed; another server then goes on with what was finished.

    `test_killed.py` does the same with real servers, at many more moments.
    """
    moments, rng = 3, random.Random(0)

    async def go(client):
        project = await client.upload()
        job = await client.start(project)
        folder = client.home / project / "jobs" / job
        kept = set()
        for _ in range(moments):
            searches = client.app._app.state.searches
            process = searches._running[job]
            await asyncio.sleep(rng.uniform(0.0, 6.0))
            if process.returncode is None:
                if rng.random() < 0.5:
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.stdin.close()  # as it is when the server is killed
                await process.wait()
            events = read_events(folder / "events.jsonl")[0]
            done = {event["kernel"] for event in events if event["type"] == "kernel"}
            assert kept <= done
            kept = done
            client = Client(client.home)
            told = await client.ask("GET", f"/api/projects/{project}/jobs/{job}")
            if told["state"] == "finished":
                break
            assert told["state"] in ("stopped", "interrupted")
            await client.ask("POST", f"/api/projects/{project}/jobs/{job}/resume")
            await asyncio.sleep(0)
        told = await client.finished(project, job)
        assert told["state"] == "finished"
        assert same(told["result"], whole)
        events = read_events(folder / "events.jsonl")[0]
        tried = [event["kernel"] for event in events if event["type"] == "kernel"]
        again = max(event["attempt"] for event in events if event["type"] == "started") - 1
        assert len(tried) <= len(set(tried)) * (1 + again)  # told again when resumed, never searched again

    run(go, tmp_path)


def test_an_upload_that_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(bodies, "MOST_UPLOAD", 1000)

    async def go(client):
        answer = await exchange(
            client.app, "PUT", "/api/projects", headers=OWN, parts=[b"x" * 600, b"x" * 600], query="name=a"
        )
        assert answer.status == 413
        monkeypatch.setattr(bodies.parts, "__defaults__", (0.05,))
        answer = await exchange(client.app, "PUT", "/api/projects", headers=OWN, parts=[b"x", None], query="name=a")
        assert answer.status == 408
        assert list(client.home.glob("*")) == []

    run(go, tmp_path)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/projects/nothing", 404),
        ("GET", "/api/projects/..%2f..", 404),
        ("POST", "/api/projects/0123456789ab/describe", 404),
        ("DELETE", "/api/projects/0123456789ab", 404),
        ("POST", "/api/projects/0123456789ab/jobs", 404),
        ("GET", "/api/projects/0123456789ab/jobs/0123456789ab/events", 404),
        ("PUT", "/api/projects/0123456789ab/jobs/0123456789ab/predict", 404),
        ("GET", "/files/0123456789ab/0123456789ab/model", 403),
        ("POST", "/api/projects", 422),
    ],
)
def test_what_is_not_there(tmp_path, method, path, status):
    async def go(client):
        assert (await exchange(client.app, method, path, headers=OWN)).status == status

    run(go, tmp_path)


def test_names_full_of_markup_stay_names(tmp_path):
    async def go(client):
        project = await client.upload(name="%3Cscript%3Ealert(1)%3C/script%3E.csv")
        told = await client.ask("GET", f"/api/projects/{project}")
        assert "/" not in told["name"]
        assert told["name"].endswith(".csv")
        assert np.array(list((client.home / project / "data").iterdir())).size == 1

    run(go, tmp_path)
