"""A served model: JSON and CSV in and out, and what is refused."""

import json

import numpy as np
import pytest

import mercer
from mercer.cli import app
from mercer.serving import http
from mercer.serving.http import application
from mercer.serving.service import Service
from tests.studio.asgi import request

pytest.importorskip("starlette")


@pytest.fixture(scope="module")
def outcome():
    random = np.random.default_rng(0)
    mass = random.normal(10, 5, size=80)
    columns = {"mass": mass, "colour": ["red", "blue"] * 40, "pet": ["dog" if m > 10 else "cat" for m in mass]}
    return mercer.fit(columns, target="pet", kernel="rbf", folds=3)


@pytest.fixture
def client(outcome):
    return Client(application(Service(outcome.model, most_rows=5)))


class Client:
    """Asks an application without a network."""

    def __init__(self, app):
        self._app = app

    def get(self, path):
        return request(self._app, "GET", path, headers={})

    def post(self, path, content, **headers):
        body = content if isinstance(content, str) else json.dumps(content)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return request(self._app, "POST", path, headers=named, body=body.encode())


def test_health_and_schema(client):
    assert client.get("/health").json()["status"] == "ok"
    told = client.get("/schema").json()
    assert [column["name"] for column in told["columns"]] == ["mass", "colour"]
    assert told["classes"] == ["cat", "dog"]


def test_json_and_csv_agree_with_the_model(client, outcome):
    rows = [{"mass": 2.0, "colour": "red"}, {"mass": 18.5, "colour": "blue"}, {"mass": None, "colour": "green"}]
    found = client.post("/predict", {"rows": rows}).json()["predictions"]
    columns = {name: [row[name] for row in rows] for name in ("mass", "colour")}
    assert [one["prediction"] for one in found] == outcome.predict(columns).tolist()
    chances = [list(one["probabilities"].values()) for one in found]
    np.testing.assert_allclose(chances, outcome.predict_proba(columns))
    body = "mass,colour\n2.0,red\n18.5,blue\n,green\n"
    same = client.post("/predict", body, content_type="text/csv").json()["predictions"]
    assert [one["probabilities"] for one in same] == [one["probabilities"] for one in found]
    text = client.post("/predict", rows, accept="text/csv").body.decode()
    assert text.splitlines()[0] == "object,prediction,unlike_training,probability of cat,probability of dog"
    assert len(text.splitlines()) == 4


@pytest.mark.parametrize(
    ("body", "kind", "status", "message"),
    [
        ("{", "application/json", 422, "not JSON"),
        ("[]", "application/json", 422, "contains no list of objects"),
        ("[1]", "application/json", 422, "not an object"),
        ('[{"mass": 1}]', "application/json", 422, "column 'colour'"),
        ('[{"mass": "heavy", "colour": "red"}]', "application/json", 422, "is not a number"),
        ('[{"mass": [1], "colour": "red"}]', "application/json", 422, "a list or an object"),
        (json.dumps([{"mass": 1, "colour": "red"}] * 6), "application/json", 422, "5 are allowed"),
        ("mass\n1\n", "text/csv", 422, "colour"),
        ("x", "application/xml", 415, "application/json and text/csv"),
    ],
)
def test_refusals(client, body, kind, status, message):
    answer = client.post("/predict", body, content_type=kind)
    assert answer.status == status
    assert message in answer.json()["error"]


def test_limits_and_methods(client, monkeypatch):
    assert client.get("/predict").status == 405
    monkeypatch.setattr(http, "MOST_BYTES", 100)
    assert client.post("/predict", "[" + " " * 200 + "]").status == 413


def test_other_objects():
    model = mercer.fit(["good and fine", "bad and sad"] * 15, y=["+", "-"] * 15, kernel="normalise(vector_space)").model
    found = Service(model).from_json(b'{"objects": ["fine", "sad"]}')
    assert [one["prediction"] for one in found] == ["+", "-"]
    with pytest.raises(mercer.errors.InputError, match="does not take tables"):
        Service(model).from_csv(b"a\n1\n")


def test_the_command_serves_a_model_file(outcome, tmp_path, monkeypatch, capsys):
    mercer.save(outcome.model, tmp_path / "m.mercer")
    served = []
    monkeypatch.setattr("mercer.cli.serving.serve", lambda *given: served.append(given))
    assert app.run(["serve", str(tmp_path / "m.mercer"), "--port", "9000", "--most-rows", "7"]) == 0
    ((service, host, port),) = served
    assert (service.most_rows, host, port) == (7, "127.0.0.1", 9000)
    assert "http://127.0.0.1:9000/predict" in capsys.readouterr().err
