"""Plots in the style of scikit-learn's Displays: ``XDisplay.from_...(...)`` draws, and returns what was drawn.

Needs the extra ``plots``. Colours are safe for the colour-blind, and marks, bars and signs carry the same information
in grey.
"""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
