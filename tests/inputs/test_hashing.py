"""Names of things: what was named lately can be spelt out, and only so much of it is remembered."""

from mercer.inputs import hashing
from mercer.inputs.hashing import content_hash, text_of_name


def test_the_latest_names_are_remembered(monkeypatch):
    monkeypatch.setattr(hashing, "_REMEMBERED", {})
    monkeypatch.setattr(hashing, "MOST_REMEMBERED", 3)
    names = [content_hash(word) for word in ("ant", "bee", "cat", "dog")]
    assert [text_of_name(name) for name in names] == [None, "bee", "cat", "dog"]
    assert len(hashing._REMEMBERED) == 3
    assert content_hash("ant") == names[0]
    assert text_of_name(names[0]) == "ant"
