"""Arrays on their way to the page: base64 of little-endian float32, which a browser reads without parsing digits."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np


def packed(values: Any) -> dict[str, Any]:
    """Shape and content; what float32 cannot hold becomes its largest number."""
    largest = float(np.finfo(np.float32).max)
    array = np.clip(np.nan_to_num(np.asarray(values, dtype=np.float64), nan=0.0), -largest, largest)
    return {"shape": list(array.shape), "data": base64.b64encode(array.astype("<f4").tobytes()).decode()}


def unpacked(told: dict[str, Any]) -> Any:
    """The inverse, as the page does it."""
    return np.frombuffer(base64.b64decode(told["data"]), dtype="<f4").reshape(told["shape"])
