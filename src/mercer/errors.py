"""Every exception and warning that Mercer raises.

::

    MercerError
    ├── InputError (ValueError)            objects or labels that cannot be used
    │   └── InputTypeError (TypeError)     ... because they are of the wrong kind altogether
    ├── ParameterError (ValueError, TypeError)   a hyperparameter outside its range
    ├── KernelError (ValueError)           a kernel broke its contract: NaN, asymmetry, wrong shape
    ├── MemoryBudgetError (MemoryError)    refused before allocating, with the number and the way out
    ├── ModelFileError (ValueError)        a model file that is damaged, hostile or too new, or cannot be written
    ├── UnfittedError (ValueError, AttributeError)   a model that must be fitted first
    └── MissingExtraError (ImportError)    an optional dependency is absent; names the extra

    MercerWarning (UserWarning)
    └── KernelWarning                      a kernel that is legal but probably not what was meant

Each message says what is wrong, where, why, and what to do about it.
"""

from __future__ import annotations


class MercerError(Exception):
    """The root of everything that Mercer raises on purpose."""


class InputError(MercerError, ValueError):
    """Objects or labels that cannot be used."""


class InputTypeError(InputError, TypeError):
    """Objects of the wrong kind altogether, for example one string instead of a list."""


class ParameterError(MercerError, ValueError, TypeError):
    """A hyperparameter outside its range."""


class KernelError(MercerError, ValueError):
    """A kernel that broke its contract."""


class MemoryBudgetError(MercerError, MemoryError):
    """A request that cannot fit, refused before anything was allocated."""


class ModelFileError(MercerError, ValueError):
    """A model file that is damaged, hostile, written by a newer version, or cannot be written."""


class UnfittedError(MercerError, ValueError, AttributeError):
    """A model that must be fitted first; of the same kinds as scikit-learn's NotFittedError."""


class MissingExtraError(MercerError, ImportError):
    """An optional dependency is not installed."""


class MercerWarning(UserWarning):
    """The root of Mercer's warnings."""


class KernelWarning(MercerWarning):
    """A kernel that is legal but probably not what was meant."""
