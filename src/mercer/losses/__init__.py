"""Losses: how bad a decision value is for a target, one per file; `Loss` is what one of your own derives from."""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
