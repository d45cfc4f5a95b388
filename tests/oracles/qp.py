"""Box problems solved slowly and obviously: projected gradient, accelerated, until nothing moves."""

import numpy as np


def project(point, lower, upper, total):
    """The nearest point of the box (with the given sum): all entries shifted alike, until a bound stops them.

    The sum grows with the shift, along straight lines between the shifts at which an entry meets a bound.
    """
    if total is None:
        return np.clip(point, lower, upper)
    shifts = np.sort(np.concatenate([lower - point, upper - point]))
    sums = np.clip(point + shifts[:, None], lower, upper).sum(axis=1)
    return np.clip(point + np.interp(total, sums, shifts), lower, upper)


def objective(K, linear, b):
    return 0.5 * b @ K @ b + linear @ b


def minimise(K, linear, lower, upper, total, iterations=20000):
    step = 1.0 / max(np.linalg.eigvalsh(K)[-1], 1e-9)
    b = project(np.zeros(len(linear)), lower, upper, total)
    ahead, momentum = b, 1.0
    for _ in range(iterations):
        after = project(ahead - step * (K @ ahead + linear), lower, upper, total)
        if (ahead - after) @ (after - b) > 0:  # overshot: start the momentum anew
            ahead, momentum = b, 1.0
            continue
        if np.abs(after - b).max() < 1e-14 and momentum > 10:
            break
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = after + (momentum - 1.0) / following * (after - b)
        b, momentum = after, following
    return b


def violation(K, linear, lower, upper, total, b):
    """The largest violation of the optimality conditions, from their definition."""
    F = -(K @ b + linear)
    rising, falling = F[b < upper], F[b > lower]
    if total is None:
        return max(rising.max(initial=0.0), -falling.min(initial=0.0))
    if not len(rising) or not len(falling):
        return 0.0
    return max(0.0, rising.max() - falling.min())
