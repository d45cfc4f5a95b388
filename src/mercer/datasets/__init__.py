"""Small data sets for the demo, the docs and the tests: real ones by name, generated ones by a seed."""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
