"""Pictures in the style of scikit-learn's Displays: ``XDisplay.from_...(...)`` draws and returns what was drawn.

Needs the extra ``plots``. Colours are safe for the colour-blind, and marks, bars and signs say the same in grey.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.plots.eigenvalues import EigenvalueDisplay as EigenvalueDisplay
    from mercer.plots.feature_space import FeatureSpaceDisplay as FeatureSpaceDisplay
    from mercer.plots.graph_explanation import GraphExplanationDisplay as GraphExplanationDisplay
    from mercer.plots.kernel_matrix import KernelMatrixDisplay as KernelMatrixDisplay
    from mercer.plots.kernel_trick import KernelTrickDisplay as KernelTrickDisplay
    from mercer.plots.margin import MarginDisplay as MarginDisplay
    from mercer.plots.sequence_explanation import SequenceExplanationDisplay as SequenceExplanationDisplay
    from mercer.plots.support import SupportDisplay as SupportDisplay
    from mercer.plots.trace import TraceDisplay as TraceDisplay
    from mercer.plots.validation_surface import ValidationSurfaceDisplay as ValidationSurfaceDisplay

_HOMES = {
    "EigenvalueDisplay": "mercer.plots.eigenvalues",
    "FeatureSpaceDisplay": "mercer.plots.feature_space",
    "GraphExplanationDisplay": "mercer.plots.graph_explanation",
    "KernelMatrixDisplay": "mercer.plots.kernel_matrix",
    "KernelTrickDisplay": "mercer.plots.kernel_trick",
    "MarginDisplay": "mercer.plots.margin",
    "SequenceExplanationDisplay": "mercer.plots.sequence_explanation",
    "SupportDisplay": "mercer.plots.support",
    "TraceDisplay": "mercer.plots.trace",
    "ValidationSurfaceDisplay": "mercer.plots.validation_surface",
}

__all__ = [
    "EigenvalueDisplay",
    "FeatureSpaceDisplay",
    "GraphExplanationDisplay",
    "KernelMatrixDisplay",
    "KernelTrickDisplay",
    "MarginDisplay",
    "SequenceExplanationDisplay",
    "SupportDisplay",
    "TraceDisplay",
    "ValidationSurfaceDisplay",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer.plots' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
