"""Every exception and warning that Mercer raises.

::

    MercerError
    ├── InputError (ValueError)            objects or labels that cannot be used
    │   ├── InputTypeError (TypeError)     ... because they are of the wrong kind altogether
    │   └── DataFileError                  ... because the file they come from cannot be read: file, line, column
    ├── ParameterError (ValueError, TypeError)   a hyperparameter outside its range
    │   └── ExpressionError                ... or a kernel's text that cannot be read, with the character to blame
    ├── KernelError (ValueError)           a kernel broke its contract: NaN, asymmetry, wrong shape
    ├── InseparableError (ValueError)      a hard margin that does not exist, with the proof
    ├── MemoryBudgetError (MemoryError)    refused before allocating, with the number and the way out
    ├── CostError (ValueError)             refused because it would take hours, with the way out
    ├── TimeLimitError (TimeoutError)      time was over before there was anything to return: how far it came
    ├── ModelFileError (ValueError)        a model file that is damaged, hostile or too new, or cannot be written
    ├── ClusterError (RuntimeError)         a cluster that failed: which part of it, why, and what to do
    ├── UnfittedError (ValueError, AttributeError)   a model that must be fitted first
    └── MissingExtraError (ImportError)    an optional dependency is absent; names the extra

    MercerWarning (UserWarning)
    ├── CostWarning                        work that will take minutes, said before it begins
    ├── KernelWarning                      a kernel that is legal but probably not what was meant
    └── DataWarning                        objects, labels or weights of which the same is true

Each message says what is wrong, where, why, and what to do about it.
"""

from __future__ import annotations

from typing import Any


class MercerError(Exception):
    """The root of everything that Mercer raises on purpose."""


class InputError(MercerError, ValueError):
    """Objects or labels that cannot be used."""


class InputTypeError(InputError, TypeError):
    """Objects of the wrong kind altogether, for example one string instead of a list."""


class DataFileError(InputError):
    """A data file that cannot be read; the message starts with the file and, if there is one, the line."""


class ParameterError(MercerError, ValueError, TypeError):
    """A hyperparameter outside its range."""


class ExpressionError(ParameterError):
    """A kernel's text that cannot be read.

    `reason` says why in one sentence, `position` is the wrong character, counted from 0; the message has both, and
    shows the text with a caret below that character.
    """

    def __init__(self, message: str, *, reason: str, position: int) -> None:
        super().__init__(message)
        self.reason = reason
        self.position = position

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild_expression, (self.args[0], self.reason, self.position)


def _rebuild_expression(message: str, reason: str, position: int) -> ExpressionError:
    return ExpressionError(message, reason=reason, position=position)


class KernelError(MercerError, ValueError):
    """A kernel that broke its contract."""


class InseparableError(MercerError, ValueError):
    """No hyperplane separates the classes, with the proof: weights under which their mixtures coincide.

    `positive` and `negative` hold one weight per object. With an intercept each sums to one, and the mixtures
    sum_i positive_i phi(x_i) and sum_j negative_j phi(x_j) are only `distance` apart; without, both together sum to
    one, and sum_i positive_i phi(x_i) - sum_j negative_j phi(x_j) has length `distance`. `tolerance` is what counts
    as zero.
    """

    def __init__(self, message: str, *, positive: Any, negative: Any, distance: float, tolerance: float) -> None:
        super().__init__(message)
        self.positive = positive
        self.negative = negative
        self.distance = distance
        self.tolerance = tolerance

    def __reduce__(self) -> tuple[Any, ...]:
        details = {name: getattr(self, name) for name in ("positive", "negative", "distance", "tolerance")}
        return _rebuild_inseparable, (self.args[0], details)


def _rebuild_inseparable(message: str, details: dict[str, Any]) -> InseparableError:
    return InseparableError(message, **details)


class MemoryBudgetError(MercerError, MemoryError):
    """A request that cannot fit, refused before anything was allocated."""


class CostError(MercerError, ValueError):
    """Work that would take hours, refused before it began."""


class TimeLimitError(MercerError, TimeoutError):
    """Time ran out before there was anything to return; `done` is the fraction of the work that was done by then."""

    def __init__(self, message: str, done: float = 0.0) -> None:
        super().__init__(message)
        self.done = done

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.done)


class ModelFileError(MercerError, ValueError):
    """A model file that is damaged, hostile, written by a newer version, or cannot be written."""


class ClusterError(MercerError, RuntimeError):
    """A cluster that cannot be reached, was lost, or has workers that cannot do the work."""


class UnfittedError(MercerError, ValueError, AttributeError):
    """A model that must be fitted first; has the same base classes as scikit-learn's NotFittedError."""


class MissingExtraError(MercerError, ImportError):
    """An optional dependency is not installed."""


class MercerWarning(UserWarning):
    """The root of Mercer's warnings."""


class CostWarning(MercerWarning):
    """Work that will take minutes or more, announced before it begins."""


class KernelWarning(MercerWarning):
    """A kernel that is legal but probably not what was meant."""


class DataWarning(MercerWarning):
    """Objects, labels or weights that are legal but probably not what was meant."""


def missing_extra(what: str, package: str, extra: str) -> MissingExtraError:
    """The error for `what` that needs a package of an extra, for the caller to raise."""
    return MissingExtraError(
        f"{what} needs {package}, which is not installed. Install it with: pip install 'mercer[{extra}]'."
    )
