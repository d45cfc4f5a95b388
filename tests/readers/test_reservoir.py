"""Samples of streams, and what is kept of a pass that may be killed."""

import json

import numpy as np

from mercer.readers.reservoir import Kept, Reservoir, as_bytes, as_text


def drawn(seed, pieces, resumed_at=None):
    """A sample of 20 of 1,000 items, offered in some pieces; perhaps told and read again before one of them."""
    found = Reservoir(20, seed)
    for number, piece in enumerate(np.array_split(np.arange(1000), pieces)):
        if number == resumed_at:
            told = json.loads(json.dumps(found.told()))
            found = Reservoir(20, seed + 1)
            found.resume(told)
        found.offer((piece + 2).tolist(), [b"%d" % item for item in piece.tolist()])
    return found


def test_all_items_are_equally_likely():
    counts = np.zeros(1000)
    for seed in range(400):
        counts[[place for place, _, _ in drawn(seed, 3).kept]] += 1
    assert counts.sum() == 400 * 20
    assert abs(counts[:500].sum() - 4000) < 4 * np.sqrt(2000)
    assert counts.max() < 8 + 6 * np.sqrt(8)


def test_a_sample_depends_neither_on_pieces_nor_on_interruptions():
    expected = drawn(0, 1)
    assert expected.seen == 1000
    assert all((line, text) == (place + 2, b"%d" % place) for place, line, text in expected.kept)
    for pieces, at in ((7, None), (7, 0), (7, 3), (300, 2), (300, 299)):
        assert drawn(0, pieces, at).kept == expected.kept


def test_any_bytes_can_be_told():
    found = [(3, 7, bytes(range(256))), (4, 9, "Köln\r\n".encode())]
    assert as_bytes(json.loads(json.dumps(as_text(found), ensure_ascii=False))) == found


def test_only_what_belongs_to_the_pass_is_found(tmp_path):
    path = tmp_path / "sample" / "state.json"
    kept = Kept(path, "one")
    assert kept.found() is None
    kept.write({"done": False})
    assert kept.found()["done"] is False
    assert Kept(path, "another").found() is None
    assert not kept.is_due()  # it has just been written
    path.write_text("{")
    assert kept.found() is None
