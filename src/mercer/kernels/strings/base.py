"""Shared code of kernels on strings: the symbols of a text, loops over pairs, and spelling of features."""

from __future__ import annotations

import unicodedata
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from mercer._record import boolean, choice
from mercer._types import DType, Float64, Floating, Int64, UInt64
from mercer.errors import InputError, KernelWarning
from mercer.inputs.hashing import LOWEST_NAME, text_of_symbol
from mercer.inputs.strings import Strings
from mercer.kernels.base import Kernel, State
from mercer.kernels.features.alphabet import Alphabet, encode
from mercer.kernels.features.occurrences import Occurrences
from mercer.kernels.loops.pairs import PairLoop, SequenceFeatures, Sides
from mercer.kernels.loops.string_lanes import RUNNER, small_codes


@dataclass(frozen=True, kw_only=True)
class StringKernel(Kernel):
    """A kernel on strings over any alphabet, and on sequences of hashable tokens.

    `tokens` chooses the symbols of a string: ``"characters"``, its code points, or ``"words"``, split at white space.
    `lowercase` folds case first, and `normalize` (``"NFC"`` ...) gives characters that look the same the same code
    points. Sequences of tokens, such as lists of words, are used as they are.
    """

    tokens: str = choice("characters", "words")
    lowercase: bool = boolean()
    normalize: str | None = choice(None, "NFC", "NFD", "NFKC", "NFKD")

    domain = Strings

    @property
    def shortest(self) -> int:
        """The minimum length of a string with any features; `fit` warns of shorter ones."""
        return 0

    def resolve(self, objects: Strings) -> State:
        sequences = self.sequences(objects)
        self.coded(sequences)  # refuses symbols outside the alphabet
        short = int((sequences.lengths < self.shortest).sum())
        if short:
            warnings.warn(
                f"{short} of {len(sequences)} strings are shorter than {self.shortest}, the length of what "
                f"{type(self).__name__} counts: their kernel value with any string is 0.",
                KernelWarning,
                stacklevel=3,
            )
        return State()

    def coded(self, sequences: Strings) -> Strings:
        """The symbols that the kernel compares."""
        return sequences

    def sequences(self, objects: Strings) -> Strings:
        """The objects as sequences of symbols, according to the options above."""
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


class OverAlphabet(StringKernel):
    """A kernel whose strings are encoded as positions in an alphabet, if one is given."""

    alphabet: Alphabet | None
    unknown = "error"
    """``"error"``, or ``"skip"`` to leave out windows with symbols outside the alphabet."""

    @property
    def letters(self) -> Alphabet | None:
        """The alphabet, with case and Unicode normalised like the strings."""
        return self.folded(self.alphabet) if isinstance(self.alphabet, str) else self.alphabet

    def coded(self, sequences: Strings) -> Strings:
        if self.letters is None:
            return sequences
        codes = encode(sequences, self.letters, type(self).__name__, skip=self.unknown == "skip")
        return Strings(codes, sequences.offsets)


class PairedStrings(StringKernel):
    """A kernel that compares strings pair by pair by dynamic programming. Subclasses define `cost` and `pair_loop`."""

    @property
    @abstractmethod
    def cost(self) -> float:
        """The number of values computed for a pair of symbols."""

    @property
    def known(self) -> int:
        """How many of the smallest symbols of `coded` have weights of their own."""
        return 0

    @abstractmethod
    def pair_loop(self, dtype: DType) -> PairLoop:
        """The loop over pairs of strings, in one precision."""

    def features(self, objects: Strings, state: State, dtype: DType) -> SequenceFeatures:
        sequences = self.coded(self.sequences(objects))
        plain = SequenceFeatures.of(sequences.symbols, sequences.offsets)
        small, _ = small_codes(plain, plain, self.known)
        return replace(plain, diagonal=RUNNER.own(self.pair_loop(np.float64), small, self.cost))

    def align(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> Sides:
        return small_codes(left, right, self.known)

    def tile(self, left: SequenceFeatures, right: SequenceFeatures, state: State, out: Floating) -> None:
        RUNNER.fill(self.pair_loop(out.dtype.type), left, right, self.cost, out)

    def tile_entries(self, left: SequenceFeatures, right: SequenceFeatures, state: State) -> int:
        return RUNNER.entries(left, right, self.cost)

    def diagonal(self, features: SequenceFeatures, state: State) -> Float64:
        return features.diagonal


def at_places(
    sequence: Strings,
    names: UInt64,
    values: Float64,
    places: Int64,
    sizes: Int64,
    spell: Callable[[int], str] | None = None,
) -> Occurrences:
    """The occurrences at these positions of one string, by default spelt by the symbols there."""

    def as_read(k: int) -> str:
        return word_of(sequence.symbols[places[k, : sizes[k]]].tolist())

    parts = tuple(text_of_symbol(symbol) for symbol in sequence.symbols.tolist())
    return Occurrences(parts, names, values, places, sizes, as_read if spell is None else spell)


def word_of(symbols: Iterable[int | None]) -> str:
    """Symbols as a word, tokens separated by spaces; a dot stands for any symbol."""
    listed = list(symbols)
    between = " " if any(symbol is not None and symbol >= LOWEST_NAME for symbol in listed) else ""
    return between.join("." if symbol is None else text_of_symbol(symbol) for symbol in listed)
