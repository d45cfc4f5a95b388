"""What each parameter may be, as its refusal tells: the whole table is in domains.txt, so that no bound moves unseen.

After a change that is meant, write the table anew: ``python -m tests.conformance.test_domains``.
"""

import dataclasses
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from mercer._registry import ESTIMATORS, KERNELS
from mercer.errors import ParameterError
from mercer.testing.examples import examples_of
from mercer.testing.samples import objects_for

TABLE = Path(__file__).with_name("domains.txt")
REFUSED = re.compile(r"The '(\w+)' parameter of (\w+) must be (.+)\. Got ")
X = np.random.default_rng(0).normal(size=(12, 2))
OWN = ("coef0", "degree", "gamma", "kernel_y", "memory", "random_state", "class_weight", "cv", "scoring")
"""Parameters of estimators that belong to the kernel, to the matrix or to scikit-learn, which refuse them."""
IGNORED = ("verbose", "shrinking", "cache_size", "store_cv_results", "fit_intercept")
"""Those of which any value will do: what is true of it is asked, or nothing at all."""

WHOLE_OR_SHARE = (("VectorSpace", "min_df"), ("VectorSpace", "max_df"))
"""A number of documents if it is an int, and a share of them if it is a float: each has its own sentence."""


class Nothing:
    """No value of any parameter."""

    def __repr__(self) -> str:
        return "Nothing"


def kernels():
    for name, entry in KERNELS.items():
        kernel = next(iter(examples_of(entry.load())), None)
        for field in dataclasses.fields(kernel) if kernel is not None else ():
            yield pytest.param(name, kernel, field.name, id=f"{name}.{field.name}")


def estimators():
    for name, entry in ESTIMATORS.items():
        for parameter in sorted(set(entry.load()().get_params(deep=False)) - {*OWN, *IGNORED}):
            yield pytest.param(name, entry.load()(), parameter, id=f"{name}.{parameter}")


def kernel_refusing(kernel, field, value):
    sample = next(iter(objects_for(kernel).values())).take(slice(0, 4))
    with pytest.raises(ParameterError) as refused:
        dataclasses.replace(kernel, **{field: value}).fit(sample)(sample)
    return str(refused.value)


def estimator_refusing(estimator, parameter, value):
    y = X if "CCA" in type(estimator).__name__ else np.arange(12) % 2
    estimator.set_params(**{parameter: value})
    with pytest.raises(ParameterError) as refused:
        estimator.fit(X, y)
    assert not [name for name in vars(estimator) if name.endswith("_") and not name.startswith("_")]
    return str(refused.value)


def row(name, field, message):
    told = REFUSED.match(message)
    assert told, message
    by = "" if (told[2], told[1]) == (name, field) else f" ({told[1]} of {told[2]})"
    return f"{name}.{field}{by}: {told[3]}"


@pytest.fixture(scope="module")
def table():
    return TABLE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(("name", "kernel", "field"), list(kernels()))
def test_kernels(table, name, kernel, field):
    assert row(name, field, kernel_refusing(kernel, field, Nothing())) in table
    if type(getattr(kernel, field)) in (float, int) and (name, field) not in WHOLE_OR_SHARE:
        assert row(name, field, kernel_refusing(kernel, field, float("nan"))) in table


@pytest.mark.parametrize(("name", "estimator", "parameter"), list(estimators()))
def test_estimators(table, name, estimator, parameter):
    assert row(name, parameter, estimator_refusing(estimator, parameter, Nothing())) in table


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_what_is_learnt_is_asked_for_too_early(name):
    estimator = ESTIMATORS[name].load()()
    learnt = [one for one in dir(type(estimator)) if isinstance(getattr(type(estimator), one), property)]
    for one in learnt:
        if one.endswith("_") and not one.startswith("_") and one != "loss_":  # which is given, not learnt
            with pytest.raises(AttributeError, match=r"not fitted yet|only available") as early:
                getattr(estimator, one)
            assert name in str(early.value) or "only available" in str(early.value)


@pytest.mark.parametrize("name", list(ESTIMATORS))
def test_what_needs_a_fit_says_so(name):
    estimator = ESTIMATORS[name].load()()
    for method, given in (("verify", (X, np.arange(12) % 2)), ("explain", (X,)), ("predict", (X,)), ("show_work", ())):
        if hasattr(estimator, method):
            given = given[:1] if name == "OneClassSVM" else given
            with pytest.raises(NotFittedError):
                getattr(estimator, method)(*given)


def test_nothing_else_is_told(table):
    known = {case.id for case in (*kernels(), *estimators())}
    assert {re.split(r":| \(", line)[0] for line in table} == known
    assert len(table) == len(known)


def main() -> None:
    rows = [row(name, field, kernel_refusing(kernel, field, Nothing())) for name, kernel, field in values(kernels())]
    rows += [row(name, one, estimator_refusing(model, one, Nothing())) for name, model, one in values(estimators())]
    TABLE.write_text("".join(f"{line}\n" for line in rows), encoding="utf-8")


def values(cases):
    return [case.values for case in cases]


if __name__ == "__main__":
    sys.exit(main())
