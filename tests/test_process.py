"""Interrupts are answered at the end, once, by whoever answered them before; BLAS gets its threads back."""

import contextlib
import signal
import threading

import numpy as np  # noqa: F401 - loads a BLAS, also if this file is run alone
import pytest
from threadpoolctl import ThreadpoolController, threadpool_limits

from mercer import _process
from mercer._process import interrupt_held_back, single_threaded_blas


@interrupt_held_back()
@interrupt_held_back()
def work(done, failure=None):
    signal.raise_signal(signal.SIGINT)
    done.append("the work")
    if failure is not None:
        raise failure


def test_it_comes_at_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt):
        work(done)
    assert done == ["the work"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_inside_is_told_as_the_cause():
    failure = ValueError("half-way")
    with pytest.raises(KeyboardInterrupt) as caught:
        work([], failure)
    context = caught.value.__context__
    while context is not failure:
        assert context is not None
        context = context.__context__


def test_the_handler_of_the_user_answers():
    answered = []
    before = signal.signal(signal.SIGINT, lambda number, frame: answered.append(number))
    try:
        with interrupt_held_back():
            signal.raise_signal(signal.SIGINT)
            assert answered == []
        assert answered == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_are_left_alone():
    seen = []

    def work():
        with interrupt_held_back():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.default_int_handler]


def blas_threads():
    return [library["num_threads"] for library in ThreadpoolController().info() if library["user_api"] == "blas"]


@pytest.fixture
def several_blas_threads():
    """So that a limit of one can be told from what was before."""
    with threadpool_limits(2, user_api="blas"):
        assert set(blas_threads()) == {2}
        yield


@pytest.mark.usefixtures("several_blas_threads")
def test_blas_limits_are_counted_over_threads():
    before = blas_threads()
    entered, finish = threading.Event(), threading.Event()

    def hold() -> None:
        with single_threaded_blas():
            entered.set()
            finish.wait(30)

    other = threading.Thread(target=hold)
    with single_threaded_blas(), single_threaded_blas():
        other.start()
        assert entered.wait(30)
    assert set(blas_threads()) <= {1}  # the other thread still needs it
    finish.set()
    other.join(30)
    assert blas_threads() == before


@pytest.mark.usefixtures("several_blas_threads")
def test_blas_limits_survive_an_interrupt_while_they_are_taken(monkeypatch):
    before = blas_threads()

    @contextlib.contextmanager
    def interrupted():
        yield
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(_process, "interrupt_held_back", interrupted)
    with pytest.raises(KeyboardInterrupt), single_threaded_blas():
        pass
    assert blas_threads() == before


@pytest.mark.usefixtures("several_blas_threads")
def test_blas_limits_survive_an_exception():
    before = blas_threads()
    with pytest.raises(RuntimeError), single_threaded_blas():
        raise RuntimeError
    assert blas_threads() == before
