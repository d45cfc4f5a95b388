"""Whether loops are being compiled: then one answer takes longer, and whoever waits is told."""

from __future__ import annotations

from mercer._jit import tell_when_compiling

__all__ = ["tell_when_compiling"]
