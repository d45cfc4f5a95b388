"""When training stops because nothing becomes better."""

from mercer.solvers.drive import StallDetector


def test_a_smaller_gap_or_objective_is_progress():
    stall = StallDetector(patience=2)
    assert not stall.update(1.0, 5.0)
    assert not stall.update(1.0, 5.0)
    assert not stall.update(0.5, 5.0)  # a smaller gap: counted anew
    assert not stall.update(0.5, 5.0)
    assert not stall.update(0.5, 4.0)  # a smaller objective
    assert not stall.update(0.5, 4.0)
    assert stall.update(0.5, 4.0)


def test_creeping_and_noise_are_no_progress():
    creeping = StallDetector(patience=3)
    assert [creeping.update(gap, 5.0) for gap in (1.0, 0.995, 0.999, 0.991)] == [False, False, False, True]
    noisy = StallDetector(patience=2)
    assert [noisy.update(1.0, value, noise=0.1) for value in (5.0, 4.95, 4.92)] == [False, False, True]


def test_several_steps_count_at_once():
    stall = StallDetector(patience=10)
    assert not stall.update(1.0, 5.0, steps=20)  # the first is always progress
    assert stall.update(1.0, 5.0, steps=10)
