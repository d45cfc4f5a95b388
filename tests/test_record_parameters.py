"""Parameters that are declared with their rules."""

from dataclasses import dataclass
from typing import Any

import pytest

from mercer._record import Record, boolean, choice, integer, real
from mercer.errors import ParameterError


@dataclass(frozen=True)
class Settings(Record):
    size: int = integer(3, low=1, high=9)
    decay: float = real(0.5, low=0, low_open=True, high_open=True, remedy="Try 0.5.")
    exact: bool = boolean(True)
    method: str = choice("fast", "slow")
    form: str | None = choice(None, "NFC", "NFD")
    limit: int | None = integer(None, low=0)


@dataclass(frozen=True)
class Required(Record):
    size: int = integer(low=1)


def test_defaults_are_what_was_declared_and_none_is_allowed_where_it_is_the_default():
    assert Settings() == Settings(3, 0.5, True, "fast", None, None)
    assert Settings(form="NFD", limit=0).limit == 0
    assert Required(2).size == 2
    with pytest.raises(TypeError):
        Required()


def test_values_stay_as_they_were_given():
    assert repr(Settings(decay=1)).startswith("Settings(size=3, decay=1, ")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"size": 0}, r"The 'size' parameter of Settings must be an int in \[1, 9\]. Got 0 instead."),
        ({"size": None}, r"The 'size' parameter of Settings must be an int in \[1, 9\]. Got None instead."),
        ({"decay": 0}, r"The 'decay' parameter of Settings must be a float in \(0, inf\). Got 0 instead. Try 0.5."),
        ({"exact": 1}, "The 'exact' parameter of Settings must be a bool. Got 1 instead."),
        ({"method": "slo"}, "one of 'fast', 'slow'. Got 'slo' instead. Did you mean 'slow'?"),
        ({"form": "nfc"}, "one of 'NFC', 'NFD'. Got 'nfc' instead."),
        ({"limit": -1}, r"an int in \[0, inf\). Got -1 instead."),
    ],
)
def test_rules_are_checked_when_a_record_is_made_and_when_it_is_changed(wrong: dict[str, Any], message: str):
    with pytest.raises(ParameterError, match=message):
        Settings(**wrong)
    with pytest.raises(ParameterError, match=message):
        Settings().with_params(**wrong)
