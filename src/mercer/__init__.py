"""Kernel machines for any data.

Every learner works with every kernel, on vectors, strings, and tables that mix them. Names are loaded on first use, so
importing Mercer is fast.
"""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
