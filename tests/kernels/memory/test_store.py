"""A matrix on disk: what is put is what comes back, whoever puts it and whatever happens in between."""

import hashlib
import multiprocessing
import threading

import numpy as np
import pytest

from mercer.errors import InputError, ParameterError
from mercer.kernels.memory import store as stores
from mercer.kernels.memory.store import ValueStore


def names_of(items):
    return [hashlib.sha256(str(item).encode()).digest()[:16] for item in items]


def value(a, b):
    return 1.0 / (1.0 + abs(a - b)) + a * b / 1000


def fill(store, numbers, items):
    """Every missing tile, by an obvious loop; the number of values computed."""
    by_number = dict(zip(numbers.tolist(), items, strict=True))
    count = 0
    for tile in store.missing(numbers):
        store.put(tile, [[value(by_number[r], by_number[c]) for c in tile.columns] for r in tile.rows])
        count += tile.shape[0] * tile.shape[1]
    return count


def expected(rows, columns):
    return np.array([[value(a, b) for b in columns] for a in rows])


def test_values_come_back_in_any_order(tmp_path):
    items = list(range(23))
    store = ValueStore.open(tmp_path / "values", "k")
    numbers = store.register(names_of(items), block=5)
    assert (len(store), store.n_blocks, len(store.missing())) == (23, 5, 15)
    fill(store, numbers, items)
    assert not store.missing()
    shuffled = np.random.default_rng(0).permutation(23)
    for one in (store, ValueStore.open(tmp_path / "values", "k")):
        assert (one.register(names_of(items)) == numbers).all()
        np.testing.assert_array_equal(one.values(numbers, numbers), expected(items, items))
        found = one.values(numbers[shuffled], numbers[[3, 3, 17]])
        np.testing.assert_array_equal(found, expected(shuffled, [3, 3, 17]))


def test_new_objects_compute_what_is_new(tmp_path):
    store = ValueStore.open(tmp_path, "k")
    first = list(range(10))
    fill(store, store.register(names_of(first), block=4), first)
    both = [*first, 100, 101, 102]
    numbers = store.register(names_of(both), block=4)
    assert fill(store, numbers, both) == 3 * 10 + 3 * 3
    np.testing.assert_array_equal(store.values(numbers, numbers), expected(both, both))


def test_equal_objects_share_a_number(tmp_path):
    store = ValueStore.open(tmp_path, "k")
    assert store.register(names_of([7, 8, 7, 7])).tolist() == [0, 1, 0, 0]
    assert len(store) == 2


def test_a_tile_is_completed_piece_by_piece(tmp_path):
    store = ValueStore.open(tmp_path, "k")
    store.register(names_of(range(3)))
    (tile,) = store.tiles()
    part = np.full((3, 3), np.nan)
    part[0] = [1.0, 2.0, 3.0]
    store.put(tile, part)
    assert not store.has(tile)
    other = ValueStore.open(tmp_path, "k")
    np.testing.assert_array_equal(other.get(tile)[:, 0], [1.0, 2.0, 3.0])  # symmetric
    rest = np.full((3, 3), np.nan)
    rest[1, 1:], rest[2, 2] = [4.0, 5.0], 6.0
    other.put(tile, rest)
    assert other.has(tile)
    np.testing.assert_array_equal(store.get(tile), [[1.0, 2.0, 3.0], [2.0, 4.0, 5.0], [3.0, 5.0, 6.0]])
    assert store.has(tile)


def test_a_damaged_tile_counts_as_missing(tmp_path):
    items = list(range(6))
    store = ValueStore.open(tmp_path, "k")
    fill(store, store.register(names_of(items), block=3), items)
    file = tmp_path / "tiles" / "000001-000000.bin"
    for damage in (b"", file.read_bytes()[:-1], file.read_bytes()[:-1] + b"x"):
        file.write_bytes(damage)
        again = ValueStore.open(tmp_path, "k")
        numbers = again.register(names_of(items))
        unknown = np.isnan(again.values(numbers, numbers))
        assert unknown[3:, :3].all()
        assert unknown.sum() == 18
        assert fill(again, numbers, items) == 9
        np.testing.assert_array_equal(again.values(numbers, numbers), expected(items, items))


def test_folders_of_others_are_refused(tmp_path):
    ValueStore.open(tmp_path / "a", "one kernel")
    with pytest.raises(InputError, match="values of something else"):
        ValueStore.open(tmp_path / "a", "another kernel")
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="cannot be kept in"):
        ValueStore.open(tmp_path / "file", "k")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "about.json").write_text("{")
    with pytest.raises(InputError, match="cannot be kept in"):
        ValueStore.open(tmp_path / "b", "k")
    store = ValueStore.open(tmp_path / "c", "k")
    store.register(names_of(range(3)))
    (tmp_path / "c" / "objects" / "000001.bin").write_bytes(b"x" * 17)
    with pytest.raises(InputError, match="damaged"):
        store.refresh()


def test_bad_values_and_names_are_refused(tmp_path):
    store = ValueStore.open(tmp_path, "k")
    store.register(names_of(range(3)))
    (tile,) = store.tiles()
    for wrong in (np.ones((2, 3)), np.full((3, 3), np.inf)):
        with pytest.raises(InputError, match="shape"):
            store.put(tile, wrong)
    with pytest.raises(InputError, match="16 bytes"):
        store.register([b"short"])
    with pytest.raises(ParameterError, match="block"):
        store.register(names_of([9]), block=0)


def test_little_is_kept_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(stores, "_KEPT_BYTES", 3 * 8 * 16)
    items = list(range(20))
    store = ValueStore.open(tmp_path, "k")
    numbers = store.register(names_of(items), block=4)
    fill(store, numbers, items)
    np.testing.assert_array_equal(store.values(numbers, numbers), expected(items, items))
    assert len(store._kept) <= 3


def test_values_that_two_processes_add_to_a_tile_at_the_same_moment_are_both_kept(tmp_path, monkeypatch):
    stored = [ValueStore.open(tmp_path, "k") for _ in range(2)]  # opened by each process on its own
    numbers = [store.register(names_of(range(4)), block=4) for store in stored]
    assert (numbers[0] == numbers[1]).all()
    tile = stored[0].tile(0, 0)
    parts = [np.full(tile.shape, np.nan) for _ in stored]
    for place, part in enumerate(parts):
        part[place, place] = 1.0 + place
    other = threading.Thread(target=stored[1].put, args=(tile, parts[1]))
    write = stores._replace

    def slow(file, content):
        """The first is about to write what it has read when the other comes."""
        if threading.current_thread() is not other:
            other.start()
            other.join(0.2)
        write(file, content)

    monkeypatch.setattr(stores, "_replace", slow)
    stored[0].put(tile, parts[0])
    other.join()
    found = ValueStore.open(tmp_path, "k").get(tile)
    assert found.diagonal()[:2].tolist() == [1.0, 2.0]


def _register(folder, first, last, start):
    store = ValueStore.open(folder, "k")
    start.wait()
    for item in range(first, last):
        store.register(names_of([item]), block=1)
    numbers = store.register(names_of(range(first, last)))
    fill(store, numbers, list(range(first, last)))


def test_several_processes_at_once(tmp_path):
    """Overlapping objects, registered one by one at the same time: each gets one number, and the same for all."""
    context = multiprocessing.get_context("spawn")
    start = context.Barrier(3)
    workers = [context.Process(target=_register, args=(tmp_path, first, first + 20, start)) for first in (0, 10, 15)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
        assert worker.exitcode == 0
    store = ValueStore.open(tmp_path, "k")
    assert len(store) == 35
    items = list(range(35))
    numbers = store.register(names_of(items))
    assert len(store) == 35
    known = store.values(numbers, numbers)
    assert not np.isnan(known[:20, :20]).any()
    fill(store, numbers, items)
    np.testing.assert_array_equal(store.values(numbers, numbers), expected(items, items))


def test_who_reads_keeps_nothing_older_than_what_is_written_meanwhile(tmp_path, monkeypatch):
    store = ValueStore.open(tmp_path / "values", "k")
    (tile,) = store.tiles(store.register(names_of(range(3)), block=3))
    store.put(tile, np.where(np.eye(3), 1.0, np.nan))
    writer = threading.Thread(target=lambda: store.put(tile, np.ones((3, 3))))
    plain = store._read

    def read(tile, file):
        found = plain(tile, file)
        if file.suffix == ".part" and not writer.ident:
            writer.start()
            writer.join(0.2)  # as far as it comes while somebody reads
        return found

    monkeypatch.setattr(store, "_read", read)
    store.get(tile)
    writer.join()
    assert (store.get(tile) == 1.0).all()
