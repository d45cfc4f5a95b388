"""A cached property is computed once for each object, and without a lock."""

import threading

from mercer._cached import cached_property


class Subject:
    def __init__(self):
        self.asked = 0

    @cached_property
    def value(self):
        """What is computed."""
        self.asked += 1
        return [self.asked]


def test_it_is_computed_once_for_each_object():
    one, other = Subject(), Subject()
    assert one.value is one.value
    assert one.value is not other.value
    assert one.asked == other.asked == 1
    assert Subject.value.__doc__ == "What is computed."


def test_threads_with_different_objects_do_not_wait_for_each_other():
    both = threading.Barrier(2, timeout=10)

    class Waiting:
        @cached_property
        def value(self):
            return both.wait() >= 0  # passes only if both threads are inside at once

    found = []
    threads = [threading.Thread(target=lambda: found.append(Waiting().value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True, True]
