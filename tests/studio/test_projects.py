"""Projects are plain files: written whole, named safely, and read back whatever somebody did to them."""

import json

import pytest

from mercer.studio.projects import Projects, default_home, read_events, read_json, safe_name, write_json
from mercer.studio.refusal import Refusal


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("pets.csv", "pets.csv"),
        ("../../etc/passwd", "passwd"),
        ("C:\\data\\pets.csv", "pets.csv"),
        (".hidden", "hidden"),
        ("", "data"),
        ("...", "data"),
        ("/", "data"),
        ("a\x00b\n.csv", "ab.csv"),
        ("<img src=x onerror=alert(1)>.csv", "img src=x onerror=alert(1).csv"),
        ("\ud800.csv", "csv"),
        ("ü" * 300 + ".csv", "ü" * 96 + ".csv"),
    ],
)
def test_names_of_files(given, kept):
    assert safe_name(given) == kept
    assert "/" not in kept


def test_a_project(tmp_path):
    projects = Projects(tmp_path / "home")
    assert projects.all() == []
    key, path = projects.new("pets.csv")
    path.write_text("a,b\n1,2\n")
    told = projects.told(key)
    assert (told["name"], told["file"], told["size"], told["jobs"]) == ("pets.csv", "pets.csv", 8, [])
    assert [one["id"] for one in projects.all()] == [key]
    projects.remove(key)
    assert projects.all() == []


@pytest.mark.parametrize("key", ["", "..", "../../etc", "a" * 12, "A" * 12, "0123456789ab/..", "0123456789a\n"])
def test_projects_that_are_none(tmp_path, key):
    with pytest.raises(Refusal, match="no such project"):
        Projects(tmp_path).folder(key)


def test_a_folder_that_is_no_project_is_left_alone(tmp_path):
    (tmp_path / "0123456789ab").mkdir()
    (tmp_path / "notes.txt").write_text("mine")
    assert Projects(tmp_path).all() == []


def test_json_is_written_whole(tmp_path):
    path = tmp_path / "a.json"
    write_json(path, {"a": 1})
    with pytest.raises(ValueError, match="JSON"):
        write_json(path, {"a": float("nan")})
    assert read_json(path) == {"a": 1}
    path.write_text("{")
    assert read_json(path) == read_json(tmp_path / "nothing") == {}


def test_events_skip_a_line_that_was_cut_off(tmp_path):
    path = tmp_path / "events.jsonl"
    whole = json.dumps({"type": "started"}).encode() + b"\n"
    path.write_bytes(whole + b'{"type": "ker\n' + whole + b'{"type": "fi')
    events, offset = read_events(path)
    assert [event["type"] for event in events] == ["started", "started"]
    assert offset == len(path.read_bytes()) - len(b'{"type": "fi')
    assert read_events(path, offset) == ([], offset)
    assert read_events(tmp_path / "nothing", 5) == ([], 5)


def test_home_follows_the_system(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_home() == tmp_path / "mercer" / "studio"
