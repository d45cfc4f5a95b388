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


def test_another_thread_may_forget_the_same_thing(monkeypatch):
    class Shared(dict):
        def __delitem__(self, name):
            super().__delitem__(name)
            raise KeyError(name)  # as if the other had been faster

        def __contains__(self, name):
            return True  # as if the other forgets it right afterwards

    monkeypatch.setattr(hashing, "_REMEMBERED", Shared())
    monkeypatch.setattr(hashing, "MOST_REMEMBERED", 1)
    names = [content_hash("cat"), content_hash("dog")]
    assert [text_of_name(name) for name in names] == [None, "dog"]
