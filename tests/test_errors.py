"""Errors are what callers of scikit-learn and of Python catch, and survive a trip to another process."""

import pickle

import pytest

from mercer import errors


@pytest.mark.parametrize(
    ("error", "also"),
    [
        (errors.InputError, ValueError),
        (errors.InputTypeError, TypeError),
        (errors.DataFileError, errors.InputError),
        (errors.ParameterError, (ValueError, TypeError)),
        (errors.ExpressionError, errors.ParameterError),
        (errors.KernelError, ValueError),
        (errors.InseparableError, ValueError),
        (errors.MemoryBudgetError, MemoryError),
        (errors.ModelFileError, ValueError),
        (errors.UnfittedError, AttributeError),
        (errors.MissingExtraError, ImportError),
    ],
)
def test_errors_are_also_those_of_python(error, also):
    assert issubclass(error, errors.MercerError)
    assert all(issubclass(error, kind) for kind in (also if isinstance(also, tuple) else (also,)))


def test_warnings():
    assert issubclass(errors.KernelWarning, errors.MercerWarning)
    assert issubclass(errors.MercerWarning, UserWarning)


def test_a_missing_extra_says_what_to_install():
    told = errors.missing_extra("Molecules", "rdkit", "molecules")
    assert isinstance(told, errors.MissingExtraError)
    assert "Molecules" in str(told)
    assert "rdkit" in str(told)
    assert "mercer[molecules]" in str(told)


def test_a_proof_survives_another_process():
    error = errors.InseparableError("no street", positive=[1.0], negative=[0.5, 0.5], distance=0.1, tolerance=0.2)
    told = pickle.loads(pickle.dumps(error))
    assert str(told) == "no street"
    assert vars(told) == vars(error)


def test_a_place_in_a_text_survives_another_process():
    error = errors.ExpressionError("no kernel", reason="it is empty.", position=3)
    told = pickle.loads(pickle.dumps(error))
    assert (str(told), vars(told)) == ("no kernel", vars(error))
