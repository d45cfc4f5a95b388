"""Ten thousand bodies that nobody should send: each gets an answer, and none of them is a 500."""

import asyncio
import json
import random

import pytest

from mercer.studio.lab import question
from mercer.studio.workbench.samples import SAMPLES
from tests.studio.asgi import OWN, exchange
from tests.studio.fuzzing import bodies, damaged
from tests.studio.lab.test_pair import PAIRS
from tests.studio.workbench.test_samples import written

SCENE = {
    "task": "classification",
    "points": [[-1.0, -1.0, 0], [1.0, 1.0, 0], [-1.0, 1.0, 1], [1.0, -1.0, 1]],
    "kernel": "rbf(gamma=1)",
    "C": 1.0,
    "epsilon": 0.1,
    "nu": 0.5,
}
PLAN = {"target": "kind", "task": "auto", "kernel": "rbf", "seed": 0, "folds": 5, "balanced": False, "drop": ["a"]}
PAIRED = [{"kind": kind, "x": x, "z": z, "kernel": kernel} for kind, (x, z, kernel) in PAIRS.items()]
FORMULAS = ["exp(-dist**2)", "tanh(dot)", "(dot + 1)**3", "min(norm_x, norm_z)", "rbf(gamma=1) * linear"]
KNOWN = {
    "/api/lab/complete": (5200, [{"text": "rbf(ga", "caret": 6}, {"text": "on('a', li", "caret": 10}]),
    "/api/lab/parse": (1600, [{"text": "rbf(gamma=1) + linear"}, {"text": "normalise(spectrum(p=3))"}]),
    "/api/lab/picture": (500, [SCENE, {**SCENE, "task": "regression"}, {**SCENE, "task": "novelty"}]),
    "/api/lab/trace": (200, [{**SCENE, "algorithm": "perceptron", "printed": False}]),
    "/api/lab/pair": (1000, PAIRED),
    "/api/lab/question": (500, [{"formula": text} for text in FORMULAS]),
    "/api/projects": (200, [{"sample": "nothing"}]),
    "/api/projects/{project}/describe": (500, [PLAN, {}]),
    "/api/projects/{project}/jobs": (200, [PLAN]),
    "/api/projects/{project}/jobs/{job}/sign": (100, [{"what": "model"}, {"what": "report"}]),
}


@pytest.fixture(scope="module")
def project(app):
    """A project with a file and a search that was never started."""

    async def made():
        content = b"a,b,kind\n" + b"".join(b"%d,%d,%s\n" % (n, n * n, b"yn"[n % 2 : n % 2 + 1]) for n in range(20))
        told = await exchange(app, "PUT", "/api/projects", headers=OWN, body=content, query="name=table.csv")
        key = told.json()["id"]
        folder = app._app.state.searches.projects.folder(key) / "jobs" / "0123456789ab"
        folder.mkdir()
        (folder / "plan.json").write_text("{}")
        return {"project": key, "job": folder.name}

    return asyncio.run(made())


def told(answer, path):
    """What is refused, after checking that it is refused well."""
    assert answer.status in (200, 400, 404, 422), (path, answer.status, answer.body)
    found = answer.json()
    if answer.status != 200:
        assert set(found["error"]) >= {"message", "field", "position"}
        assert not found["error"].get("unexpected"), (path, found)
    return found


@pytest.mark.filterwarnings("ignore")  # as the worker does: the page is told what matters in words
def test_ten_thousand_bodies(app, project, monkeypatch):
    async def started(key, plan):
        return "0123456789ab"

    monkeypatch.setattr(app._app.state.searches, "start", started)
    monkeypatch.setattr(question, "_SECONDS", 0.02)
    seen = {}

    async def all_of_them():
        for number, (path, (count, known)) in enumerate(KNOWN.items()):
            for body in bodies(number, known, count):
                answer = await exchange(app, "POST", path.format(**project), headers=OWN, body=body)
                seen[answer.status] = seen.get(answer.status, 0) + 1
                told(answer, (path, body))

    asyncio.run(all_of_them())
    assert sum(count for count, _ in KNOWN.values()) == 10_000
    assert min(seen[status] for status in (200, 400, 422)) > 500


@pytest.mark.parametrize("name", SAMPLES)
def test_files_that_were_damaged_are_described_or_refused(app, tmp_path, name):
    """Uploads are files of strangers: of every kind, with bytes that were changed, cut off or doubled."""
    rng = random.Random(name)
    content = written(name, tmp_path).read_bytes()[:3000]

    async def all_of_them():
        for _ in range(12):
            changed = content
            for _ in range(rng.choice((1, 3, 30))):
                changed = damaged(rng, changed)
            changed = rng.choice((changed, changed[: rng.randrange(len(changed) + 1)], changed + changed[:100]))
            file = rng.choice((SAMPLES[name][0], "data", "data.csv", "data.npz", "data.xlsx", "data.db", "data.jsonl"))
            made = await exchange(app, "PUT", "/api/projects", headers=OWN, body=changed, query=f"name={file}")
            key = made.json()["id"]
            asked = json.dumps({"target": rng.choice((None, "pet", "label", ""))}).encode()
            place = f"/api/projects/{key}"
            told(await exchange(app, "POST", f"{place}/describe", headers=OWN, body=asked), changed)
            told(await exchange(app, "DELETE", place, headers=OWN), place)
            told(await exchange(app, "PUT", "/api/gram", headers=OWN, body=changed, query=f"name={file}"), changed)

    asyncio.run(all_of_them())


@pytest.mark.parametrize("offset", ["x", "-1", "1.5", "\u0663", "9" * 16, "0x10", " 1"])
def test_offsets_that_are_none(app, project, offset):
    path = "/api/projects/{project}/jobs/{job}/events".format(**project)
    answer = asyncio.run(exchange(app, "GET", path, headers=OWN, query=f"offset={offset}"))
    assert answer.status == 400
