"""What all kernels on strings share: which units of a text are its symbols."""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Hashable
from dataclasses import dataclass

from mercer import _check
from mercer.errors import InputError, KernelWarning
from mercer.inputs.strings import Strings
from mercer.kernels.base import Kernel, State

_UNICODE_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@dataclass(frozen=True, kw_only=True)
class StringKernel(Kernel):
    """A kernel on strings over any alphabet, and on sequences of hashable tokens.

    `tokens` chooses the symbols of a string: ``"characters"``, its code points, or ``"words"``, split at white space.
    `lowercase` folds case first, and `normalize` (``"NFC"`` ...) gives characters that look the same the same code
    points. Sequences of tokens, such as lists of words, are taken as they are.
    """

    tokens: str = "characters"
    lowercase: bool = False
    normalize: str | None = None

    domain = Strings

    def __post_init__(self) -> None:
        super().__post_init__()
        owner = type(self).__name__
        _check.choice(owner, "tokens", self.tokens, ("characters", "words"))
        _check.boolean(owner, "lowercase", self.lowercase)
        if self.normalize is not None:
            _check.choice(owner, "normalize", self.normalize, _UNICODE_FORMS)

    @property
    def shortest(self) -> int:
        """The length below which a string has no feature; `fit` warns of shorter ones."""
        return 0

    def resolve(self, objects: Strings) -> State:
        self._warn_of_short(self.sequences(objects))
        return State()

    def sequences(self, objects: Strings) -> Strings:
        """The objects as sequences of symbols, by the options above."""
        plain = self.tokens == "characters" and not self.lowercase and self.normalize is None
        if plain:
            return objects
        if not objects.of_characters:
            if self.lowercase or self.normalize is not None:
                raise InputError(
                    f"`lowercase` and `normalize` of {type(self).__name__} need strings, but these are sequences of "
                    "tokens. Prepare the tokens before."
                )
            return objects
        texts = [self.folded(text) for text in objects.tolist()]
        return Strings.of_tokens([text.split() for text in texts]) if self.tokens == "words" else Strings.of_text(texts)

    def folded(self, text: str) -> str:
        """A text with case and Unicode normalised."""
        if self.normalize is not None:
            text = unicodedata.normalize(self.normalize, text)  # type: ignore[arg-type]
        return text.lower() if self.lowercase else text

    def letters(self, alphabet: str | tuple[Hashable, ...]) -> str | tuple[Hashable, ...]:
        """A declared alphabet, with case and Unicode normalised as the strings are."""
        return self.folded(alphabet) if isinstance(alphabet, str) else alphabet

    def _warn_of_short(self, sequences: Strings) -> None:
        short = int((sequences.lengths < self.shortest).sum())
        if short:
            warnings.warn(
                f"{short} of {len(sequences)} strings are shorter than {self.shortest}, the length of what "
                f"{type(self).__name__} counts: they share nothing with any string, and compare as 0 to all.",
                KernelWarning,
                stacklevel=3,
            )
