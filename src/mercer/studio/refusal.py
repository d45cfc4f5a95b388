"""What the studio answers to a request that cannot be met: the field, why, and where in its text."""

from __future__ import annotations

from typing import Any, NoReturn

from mercer.errors import ExpressionError, MercerError

_PLAIN = ("it ", "something ", "a ", "this ", "these ", "only ", "parameters ", "kernels ", "the ")
"""How sentences that do not begin with a name begin."""


class Refusal(MercerError):
    """A request that cannot be met. `field` is the part at fault, `position` the character in its text."""

    def __init__(self, message: str, *, field: str = "", position: int | None = None) -> None:
        super().__init__(message)
        self.field = field
        self.position = position

    def told(self) -> dict[str, Any]:
        """As it is sent to the page."""
        return {"message": str(self), "field": self.field, "position": self.position}

    @classmethod
    def of(cls, error: MercerError, field: str = "") -> Refusal:
        """An error of the library, about a field."""
        if isinstance(error, Refusal):
            return error
        if isinstance(error, ExpressionError):
            return cls(_short(error.reason), field=field or "kernel", position=error.position)
        return cls(_short(" ".join(str(error).split())), field=field)


def _short(sentence: str) -> str:
    """The message as a sentence, without the list of all names, which a page offers while you type."""
    said = sentence.partition(" Known: ")[0]
    return said[:1].upper() + said[1:] if said.startswith(_PLAIN) else said


def refuse(message: str, field: str = "") -> NoReturn:
    """Answer that a request cannot be met."""
    raise Refusal(message, field=field)
