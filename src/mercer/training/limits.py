"""Limits that estimators take as parameters."""

from __future__ import annotations

import math
import threading
import time
from typing import Any

from mercer import _check
from mercer.solvers.drive import Limits


def limits_of(estimator: Any, began: float) -> Limits:
    """`max_iter` and what is left of `time_limit` since `began`, where an estimator has them."""
    owner = type(estimator).__name__
    max_iter = _check.integer(owner, "max_iter", estimator.max_iter, low=-1) if hasattr(estimator, "max_iter") else -1
    sharing = getattr(estimator, "_sharing", None)
    stop = threading.Event() if sharing is None else sharing.stop_of_one_fit()
    time_limit = getattr(estimator, "time_limit", None)
    if time_limit is None:
        return Limits(max_iter, stop=stop)
    seconds = _check.real(owner, "time_limit", time_limit, low=0, low_open=True)
    return Limits(max_iter, seconds - (time.monotonic() - began) if math.isfinite(seconds) else math.inf, stop)
