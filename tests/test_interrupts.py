"""An interrupt inside is answered at the end, once, and by whoever answered interrupts before."""

import signal
import threading

import pytest

from mercer._interrupts import interrupt_held_back


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
