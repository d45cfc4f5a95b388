"""A fit that fails leaves no trace, and a limit of the wrong kind is refused by name."""

import pytest

from mercer import SVC
from mercer.errors import ParameterError
from mercer.training.kernel_estimator import all_or_nothing, limits_of


def test_nothing_is_left_of_a_fit_that_failed():
    model = SVC()
    before = dict(vars(model))

    def fit():
        with all_or_nothing(model):
            model.support_, model.C = [1], 7.0
            raise KeyError

    with pytest.raises(KeyError):
        fit()
    assert vars(model) == before


def test_limits():
    assert limits_of(SVC(max_iter=7)).max_iter == 7
    with all_or_nothing(SVC(time_limit=3.0)):
        assert 0 < limits_of(SVC()).time_limit <= 3.0
    with pytest.raises(ParameterError, match="time_limit"), all_or_nothing(SVC(time_limit="long")):
        pass
