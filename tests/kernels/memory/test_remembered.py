"""Kernels that keep their values: each pair once, across fits, searches, processes and kills."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import SVC, KernelSearchCV, kernels
from mercer.errors import InputError, KernelError, ParameterError
from mercer.kernels.memory import remembered
from mercer.kernels.memory.names import identity_of, names_of
from mercer.kernels.memory.remembered import values_between

RANDOM = np.random.default_rng(0)
WORDS = ["".join(RANDOM.choice(list("ACGT"), size=length)) for length in RANDOM.integers(4, 9, size=80)]
Y = np.array([word.count("A") + word.count("C") > len(word) / 2 for word in WORDS]).astype(int)
CALLS: list[tuple[str, str]] = []


def alike(a: str, b: str) -> float:
    CALLS.append((a, b))
    return float(sum(a.count(letter) * b.count(letter) for letter in "ACGT"))


@pytest.fixture
def kernel(tmp_path):
    CALLS.clear()
    function = kernels.FromFunction(alike, objects="strings", symmetric=True, psd=True)
    return kernels.Remembered(function, str(tmp_path / "values"))


def expected(rows, columns):
    return np.array([[sum(a.count(x) * b.count(x) for x in "ACGT") for b in columns] for a in rows], dtype=float)


def pairs_called():
    return {tuple(sorted(pair)) for pair in CALLS}


def forget():
    """What a new process knows: nothing but what is in the folder."""
    remembered._OPEN.clear()
    remembered._CHECKED.clear()
    CALLS.clear()


def test_values_and_the_number_of_calls(kernel):
    different = len(set(WORDS))
    np.testing.assert_array_equal(kernel.fit(WORDS)(WORDS), expected(WORDS, WORDS))
    assert len(CALLS) == len(pairs_called()) == different * (different + 1) // 2
    np.testing.assert_array_equal(kernel.fit(WORDS[::-1])(WORDS[::-2], WORDS[5:9]), expected(WORDS[::-2], WORDS[5:9]))
    assert len(CALLS) == different * (different + 1) // 2


def test_one_call_for_each_pair_across_search_fit_and_diagnosis(kernel):
    search = KernelSearchCV(SVC(), {"kernel": [kernel], "C": [0.1, 1.0, 10.0]}, cv=4).fit(WORDS, Y)
    different = len(set(WORDS))
    assert len(CALLS) == len(pairs_called()) == different * (different + 1) // 2
    SVC(kernel=kernel).fit(WORDS, Y)
    mercer.KernelRidge(kernel=kernel, fit_intercept=True).fit(WORDS, Y)
    mercer.diagnose(kernel, WORDS, Y)
    search.predict(WORDS[:10])
    assert len(CALLS) == different * (different + 1) // 2
    plain = SVC(kernel=kernel.kernel, C=search.best_params_["C"]).fit(WORDS, Y)
    np.testing.assert_allclose(search.decision_function(WORDS), plain.decision_function(WORDS), rtol=1e-10, atol=1e-10)


def test_a_later_run_computes_one_value_to_check(kernel):
    kernel.fit(WORDS)(WORDS)
    forget()
    np.testing.assert_array_equal(kernel.fit(WORDS)(WORDS), expected(WORDS, WORDS))
    assert len(CALLS) == 1


def test_new_objects_are_compared_and_no_old_pair_again(kernel):
    old, new = WORDS[:50], sorted(set(WORDS[50:]) - set(WORDS[:50]))
    kernel.fit(old)(old)
    forget()
    both = [*new[:5], *old, *new[5:]]
    np.testing.assert_array_equal(kernel.fit(both)(both), expected(both, both))
    different = len(set(old))
    checked = 1
    assert len(CALLS) - checked == len(new) * different + len(new) * (len(new) + 1) // 2


class Killed(BaseException):
    """What no code handles."""


def test_values_of_a_tile_are_stored_before_it_is_complete(kernel, monkeypatch):
    """A kill in the middle of a tile of slow values loses those of the last second at most."""
    words = sorted(set(WORDS))[:30]
    clock = itertools.count(0.0, 0.6)  # every value seems to take more than half a second
    monkeypatch.setattr(remembered, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    monkeypatch.setattr(sys.modules[__name__], "CALLS", Ending(100))
    with pytest.raises(Killed):
        kernel.fit(words)(words)
    assert len(CALLS) == 100
    monkeypatch.setattr(sys.modules[__name__], "CALLS", [])
    np.testing.assert_array_equal(kernel.fit(words)(words), expected(words, words))
    assert len(CALLS) <= 30 * 31 // 2 - 100 + 3


class Ending(list[tuple[str, str]]):
    """A list of calls that ends the program after so many."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def append(self, call: tuple[str, str]) -> None:
        if len(self) == self.most:
            raise Killed
        super().append(call)


def test_pieces():
    pace, found = remembered._Pace(), []
    pieces = remembered._pieces(np.arange(10, 14), np.arange(5), pace)
    for size in (3, 100, 7, 100, 100):
        one, two = next(pieces)
        found.append((one.tolist(), two.tolist()))
        pace.at_once = size
    assert found == [([10], [0]), ([10], [1, 2, 3]), ([10], [4]), ([11], [0, 1, 2, 3, 4]), ([12, 13], [0, 1, 2, 3, 4])]
    assert list(pieces) == []
    for seconds, entries, expected in ((1.0, 10, 5), (60.0, 1, 1), (0.0, 10, 160)):
        pace.took(seconds, entries)
        assert pace.at_once == expected


def test_threads_do_not_compute_the_same_twice(tmp_path):
    """Folds in threads that ask for the same pairs at the same time, of a kernel that depends on no data."""
    from concurrent.futures import ThreadPoolExecutor

    def slow(a, b):
        time.sleep(0.0005)
        return alike(a, b)

    CALLS.clear()
    function = kernels.FromFunction(slow, objects="strings", symmetric=True, psd=True)
    kernel = kernels.Remembered(function, str(tmp_path))
    words = sorted(set(WORDS))[:40]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda shift: kernel.fit(words)(words[shift:] + words[:shift]), [0, 3, 17, 30]))
    assert len(CALLS) == len(pairs_called()) == 40 * 41 // 2
    np.testing.assert_array_equal(found[1], expected(words[3:] + words[:3], words[3:] + words[:3]))


PROGRAM = """
    import sys, time
    import numpy as np
    from mercer import SVC, kernels

    WORDS = {words!r}

    def slow(a, b):
        time.sleep(0.001)
        with open({log!r}, "a") as log:
            log.write(f"{{a}} {{b}}\\n")
        return float(sum(a.count(letter) * b.count(letter) for letter in "ACGT"))

    function = kernels.FromFunction(slow, "strings", symmetric=True, psd=True)
    kernel = kernels.Remembered(function, {folder!r}, n_jobs={jobs})
    model = SVC(kernel=kernel).fit(WORDS, {labels!r})
    np.save({result!r}, model.decision_function(WORDS))
"""


def program(tmp_path, words, labels, jobs=1):
    places = {name: str(tmp_path / name) for name in ("log", "folder", "result.npy")}
    text = textwrap.dedent(PROGRAM).format(
        words=words, labels=labels, jobs=jobs, log=places["log"], folder=places["folder"], result=places["result.npy"]
    )
    (tmp_path / "program.py").write_text(text)
    source = os.path.dirname(os.path.dirname(mercer.__file__))
    return subprocess.Popen([sys.executable, str(tmp_path / "program.py")], env={**os.environ, "PYTHONPATH": source})


def lines(tmp_path):
    log = tmp_path / "log"
    return log.read_text().splitlines() if log.exists() else []


def test_killed_and_started_again(tmp_path):
    """SIGKILL at some moments: what was finished is not computed again, and the machine is the same."""
    words = sorted(set(WORDS))[:64]
    labels = [int(word.count("A") > 1) for word in words]
    total = 64 * 65 // 2
    for share in (0.3, 0.6):
        process = program(tmp_path, words, labels)
        deadline = time.monotonic() + 120
        while len(lines(tmp_path)) < share * total and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait(30) == -signal.SIGKILL
    process = program(tmp_path, words, labels)
    assert process.wait(200) == 0
    calls = lines(tmp_path)
    lost = 2 * (32 * 32 + 64) + 2  # a tile and the diagonal at each kill, and a value to check at each start
    assert total <= len(calls) <= total + lost
    plain = SVC(kernel=kernels.FromFunction(alike, "strings", symmetric=True, psd=True)).fit(words, labels)
    np.testing.assert_allclose(np.load(tmp_path / "result.npy"), plain.decision_function(words), rtol=1e-10, atol=1e-10)


def test_several_processes(tmp_path):
    """Functions that no process could import are sent as they are; all pairs once, by two processes."""
    words = sorted(set(WORDS))[:40]
    labels = [int(word.count("A") > 1) for word in words]
    assert program(tmp_path, words, labels, jobs=2).wait(200) == 0
    calls = [tuple(sorted(line.split())) for line in lines(tmp_path)]
    assert set(calls) == {tuple(sorted((a, b))) for a in words for b in words}
    assert len(calls) <= len(set(calls)) + 32 * 32  # the tiles on the diagonal may be computed both ways round


def test_processes_that_share_a_folder_compute_each_pair_once(tmp_path):
    words = sorted(set(WORDS))[:64]
    labels = [int(word.count("A") > 1) for word in words]
    both = [program(tmp_path, words, labels) for _ in range(2)]
    assert [process.wait(200) for process in both] == [0, 0]
    calls = [tuple(sorted(line.split())) for line in lines(tmp_path)]
    assert set(calls) == {tuple(sorted((a, b))) for a in words for b in words}
    assert len(calls) <= len(set(calls)) + 2  # each process may check one value of the other


def test_what_a_dead_process_had_claimed_is_computed_by_the_other(tmp_path):
    words = sorted(set(WORDS))[:64]
    labels = [int(word.count("A") > 1) for word in words]
    first = program(tmp_path, words, labels)
    while len(lines(tmp_path)) < 64 and first.poll() is None:
        time.sleep(0.01)
    second = program(tmp_path, words, labels)
    while len(lines(tmp_path)) < 500 and first.poll() is None:
        time.sleep(0.01)
    first.send_signal(signal.SIGKILL)
    assert first.wait(30) == -signal.SIGKILL
    assert second.wait(200) == 0
    total = 64 * 65 // 2
    assert total <= len(lines(tmp_path)) <= total + 32 * 32 + 64 + 2  # a tile and the diagonal were lost


def test_values_between():
    fitted = kernels.Spectrum(2).fit(WORDS[:4])
    found = values_between(fitted.kernel, fitted.state, fitted.coerce(WORDS[:4]), fitted.coerce(WORDS[4:6]))
    np.testing.assert_array_equal(found, fitted(WORDS[:4], WORDS[4:6]))


@pytest.mark.parametrize(
    ("inner", "objects"),
    [
        (kernels.LocalAlignment(), WORDS[:30]),
        (kernels.RBF(gamma="scale"), RANDOM.normal(size=(30, 3))),
        (kernels.Centred(kernels.Spectrum(2)), WORDS[:30]),
    ],
)
def test_other_kernels(inner, objects, tmp_path):
    kernel = kernels.Remembered(inner, tmp_path)
    got, wanted = kernel.fit(objects)(objects), inner.fit(objects)(objects)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(kernel.fit(objects)(objects), got)


def test_a_change_of_the_function_starts_anew(tmp_path):
    def made(factor):
        def function(a, b):
            return float(len(a) * len(b) * factor)

        return kernels.Remembered(kernels.FromFunction(function, "strings", symmetric=True), tmp_path)

    assert made(1.0).fit(["ab"])(["ab"]).tolist() == [[4.0]]
    assert made(2.0).fit(["ab"])(["ab"]).tolist() == [[8.0]]
    assert len(list(tmp_path.iterdir())) == 2


def test_values_that_are_no_longer_true_are_refused(kernel, tmp_path, monkeypatch):
    helper = {"factor": 1.0}
    monkeypatch.setitem(globals(), "HELPER", helper)
    kernel = kernels.Remembered(kernels.FromFunction(by_helper, "strings", symmetric=True), tmp_path / "other")
    kernel.fit(WORDS[:5])(WORDS[:5])
    forget()
    helper["factor"] = 2.0
    with pytest.raises(KernelError, match="Delete the folder"):
        kernel.fit(WORDS[:5])(WORDS[:5])


HELPER: dict[str, float] = {}


def by_helper(a, b):
    return HELPER["factor"] * len(a) * len(b)


class Thing:
    def __init__(self, name):
        self.name = name


def test_objects_are_known_by_content_or_by_a_key(tmp_path):
    things = [Thing("a"), Thing("bb"), Thing("ccc")]

    def sizes(a, b):
        CALLS.append(("", ""))
        return float(len(a.name) * len(b.name))

    CALLS.clear()
    function = kernels.FromFunction(sizes, "items", symmetric=True)
    with pytest.raises(InputError, match="key=lambda"):
        kernels.Remembered(function, tmp_path).fit(things)(things)
    kernel = kernels.Remembered(function, tmp_path, key=lambda thing: thing.name)
    assert kernel.fit(things)(things)[2].tolist() == [3.0, 6.0, 9.0]
    again = [Thing("ccc"), Thing("a")]
    before = len(CALLS)
    assert kernel.fit(again)(again).tolist() == [[9.0, 3.0], [3.0, 1.0]]
    assert len(CALLS) == before


def test_wrong_parameters(tmp_path):
    with pytest.raises(ParameterError, match="symmetric=True"):
        kernels.Remembered(kernels.FromFunction(alike), tmp_path)
    with pytest.raises(ParameterError, match="n_jobs"):
        kernels.Remembered(kernels.Linear(), tmp_path, n_jobs=0)
    with pytest.raises(ParameterError, match="key"):
        kernels.Remembered(kernels.Linear(), tmp_path, key=3)
    with pytest.raises(ParameterError, match="kernel"):
        kernels.Remembered("rbf", tmp_path)


def test_kernels_are_records(kernel):
    assert clone(SVC(kernel=kernel)).kernel == kernel
    assert kernel.psd
    assert kernel.with_params(n_jobs=2).n_jobs == 2
    assert not kernels.Remembered(kernels.FromFunction(alike, "strings", symmetric=True), kernel.folder).psd


def test_names_and_identities():
    strings = kernels.Spectrum(2).coerce(["ab", "cd", "ab"])
    one, two, three = names_of(strings, None)
    assert one == three != two
    assert names_of(strings.take(np.array([2, 1])), None) == [one, two]
    fitted = [kernel.fit(["abcd"]) for kernel in (kernels.Spectrum(2), kernels.Spectrum(2), kernels.Spectrum(3))]
    first, second, third = (identity_of(one.kernel, one.state) for one in fitted)
    assert first == second != third


def test_a_folder_that_was_deleted_is_made_again(kernel):
    import shutil

    kernel.fit(WORDS[:3])(WORDS[:3])
    shutil.rmtree(kernel.folder)
    np.testing.assert_array_equal(kernel.fit(WORDS[:3])(WORDS[:3]), expected(WORDS[:3], WORDS[:3]))
