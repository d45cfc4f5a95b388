"""The algorithms of the slides, written down once more as plainly as possible, and an exact minimum to compare with."""

import numpy as np
from scipy.optimize import minimize


def perceptron(K, y, epochs, *, bias=True, margin=0.0):
    """Counts, bias, their means over all objects shown, and mistakes of each epoch."""
    n = len(y)
    alpha, b = np.zeros(n), 0.0
    history, mistakes = [], []
    for _ in range(epochs):
        wrong = 0
        for i in range(n):
            score = b + sum(alpha[j] * y[j] * K[i, j] for j in range(n))
            predicted = 1 if score >= 0 else -1
            if predicted != y[i] or y[i] * score < margin:
                alpha[i] += 1
                b += y[i] if bias else 0
                wrong += 1
            history.append((alpha.copy(), b))
        mistakes.append(wrong)
        if wrong == 0:
            break
    return alpha, b, np.mean([a for a, _ in history], axis=0), np.mean([c for _, c in history]), mistakes


def svm_without_bias(K, y, C):
    """The exact minimum of 1/2 |w|^2 + C sum hinge without b, from its dual over 0 <= a <= C."""
    Q = K * np.outer(y, y)
    found = minimize(
        lambda a: (0.5 * a @ Q @ a - a.sum(), Q @ a - 1),
        np.zeros(len(y)),
        jac=True,
        bounds=[(0, C)] * len(y),
        method="L-BFGS-B",
        options={"maxiter": 20_000, "ftol": 1e-15, "gtol": 1e-10},
    )
    return -found.fun
