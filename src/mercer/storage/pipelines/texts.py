"""Texts and records as columns of counts."""

from __future__ import annotations

import re
import warnings
from typing import Any

from sklearn.feature_extraction import DictVectorizer, FeatureHasher, text

from mercer._stored import Stored
from mercer.errors import ModelFileError
from mercer.storage.pipelines.codec import Codec, Numbers, Plain, Texts, inner, require, set_inner

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    from re import _constants as _codes  # type: ignore[attr-defined]
    from re import _parser as _patterns  # type: ignore[attr-defined]

_MOST_REPEATS = 2
"""Maximum number of unbounded repetitions in a token pattern, which may not be nested: otherwise time grows with a high
power of the length of a text, or exponentially, and untrusted files must not cause that."""
_LONGEST_PATTERN = 200  # characters: scikit-learn's own pattern has 13, and checking longer ones takes long


def refuse_slow_pattern(pattern: Any) -> None:
    """Refuse a regular expression that can take exponential time."""
    if pattern is None:
        return
    try:
        short = isinstance(pattern, str) and len(pattern) <= _LONGEST_PATTERN
        repeats = _repeats(_patterns.parse(pattern), within=False) if short else None
    except (re.error, RecursionError, OverflowError):
        repeats = None
    if repeats is None or repeats > _MOST_REPEATS:
        raise ModelFileError(
            f"The token_pattern {pattern!a:.80} is not one that model files hold: patterns have at most "
            f"{_MOST_REPEATS} repetitions without a bound, none within another, and no references to groups."
        )


def _repeats(parsed: Any, *, within: bool) -> int:
    """How many unbounded repetitions there are; raises OverflowError for one within another."""
    count = 0
    for code, argument in parsed:
        if code in (_codes.MAX_REPEAT, _codes.MIN_REPEAT, _codes.POSSESSIVE_REPEAT):
            _, most, inner = argument
            if within:
                raise OverflowError
            count += (most > 1) + _repeats(inner, within=most > 1)
        elif code in (_codes.GROUPREF, _codes.GROUPREF_EXISTS):
            raise OverflowError
        elif code == _codes.BRANCH:
            count += sum(_repeats(branch, within=within) for branch in argument[1])
        elif code == _codes.SUBPATTERN:
            count += _repeats(argument[3], within=within)
        elif code in (_codes.ASSERT, _codes.ASSERT_NOT):
            count += _repeats(argument[1], within=within)
        elif code == _codes.ATOMIC_GROUP:
            count += _repeats(argument, within=within)
    return count


class _Vectorizer(Codec):
    """A given vocabulary is written as the fitted one."""

    def params(self, model: Any) -> dict[str, Any]:
        found = super().params(model)
        refuse_slow_pattern(found.get("token_pattern"))
        if found.get("vocabulary") is not None:
            given = found["vocabulary"]
            found["vocabulary"] = None
            if not hasattr(model, "vocabulary_"):
                found["vocabulary"] = sorted(given, key=given.__getitem__) if isinstance(given, dict) else list(given)
        return found

    def bare(self, params: Any) -> Any:
        refuse_slow_pattern(params.get("token_pattern"))
        low, high = params.get("ngram_range", (1, 1))
        if not (isinstance(low, int) and isinstance(high, int) and 1 <= low <= high):
            raise ModelFileError("its range of n-grams is invalid.")
        model = super().bare(params)
        if isinstance(model, text.TfidfVectorizer):
            shared = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
            set_inner(model, _tfidf=text.TfidfTransformer(**{name: getattr(model, name) for name in shared}))
        return model

    def take_apart(self, model: Any) -> Stored:
        stored = super().take_apart(model)
        if isinstance(model, text.TfidfVectorizer):
            return Stored(stored.params, {**stored.values, "_tfidf": inner(model, "_tfidf")}, stored.arrays)
        return stored

    def put_together(self, stored: Stored) -> Any:
        values = dict(stored.values)
        weights = values.pop("_tfidf", None)
        model = super().put_together(Stored(stored.params, values, stored.arrays))
        if isinstance(model, text.TfidfVectorizer):
            require(type(weights) is text.TfidfTransformer, model, "its weights are missing")
            known = getattr(weights, "n_features_in_", None)
            require(known == len(model.vocabulary_), model, "the numbers of words and weights differ")
            same = all(getattr(weights, name) == getattr(model, name) for name in weights.get_params())
            require(same, model, "its weights have other parameters")
            set_inner(model, _tfidf=weights)
        return model


def _vocabulary(model: Any) -> None:
    require(len(model.vocabulary_) > 0, model, "its vocabulary is empty")
    require(isinstance(model.fixed_vocabulary_, bool), model, "its vocabulary")
    if model.fixed_vocabulary_:
        model.vocabulary = sorted(model.vocabulary_, key=model.vocabulary_.__getitem__)


def _weights(model: Any) -> None:
    require(hasattr(model, "idf_") == bool(model.use_idf), model, "its weights are missing")


def _records(model: Any) -> None:
    model.vocabulary_ = {name: place for place, name in enumerate(model.feature_names_)}
    require(len(model.feature_names_) > 0, model, "it has no columns")


class _Hashing(Codec):
    """A transformer without state, stored by its parameters alone."""

    def params(self, model: Any) -> dict[str, Any]:
        found = super().params(model)
        refuse_slow_pattern(found.get("token_pattern"))
        return found

    def bare(self, params: Any) -> Any:
        refuse_slow_pattern(params.get("token_pattern"))
        return super().bare(params)


CODECS = (
    _Vectorizer(text.CountVectorizer, {"vocabulary_": Texts(places=True), "fixed_vocabulary_": Plain()}, _vocabulary),
    _Vectorizer(text.TfidfVectorizer, {"vocabulary_": Texts(places=True), "fixed_vocabulary_": Plain()}, _vocabulary),
    Codec(text.TfidfTransformer, {"idf_": Numbers("features")}, _weights, maybe="idf_"),
    _Hashing(text.HashingVectorizer, stateless=True),
    _Hashing(FeatureHasher, stateless=True),
    Codec(DictVectorizer, {"feature_names_": Texts()}, _records),
)
