"""How long LAPACK will take is known to within what a limit needs."""

from mercer import _speed


def test_seconds_grow_with_the_cube_and_are_measured_once() -> None:
    assert _speed.seconds(_speed.EIGENVECTORS, 2000) == 8 * _speed.seconds(_speed.EIGENVECTORS, 1000)
    assert _speed.seconds(_speed.CHOLESKY, 1000) < _speed.seconds(_speed.EIGENVECTORS, 1000)
    # Between a thousandth and a thousand gigaflops per second, whatever the machine.
    assert 1e-3 < 1e-9 / _speed._seconds_per_flop() < 1e3
