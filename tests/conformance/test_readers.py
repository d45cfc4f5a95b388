"""Every format that is read, on well-formed and on broken files; and readers with bugs, which are caught."""

import pytest

from mercer.readers.formats import FORMATS
from mercer.testing.file_samples import file_samples
from mercer.testing.readers import check_reader, reader_checks
from tests.conformance import planted_readers

SAMPLES = list(file_samples())
FIRST = {sample.format: sample for sample in reversed(SAMPLES)}


def test_every_format_has_a_sample():
    for library in ("pyarrow", "python_calamine", "rdkit", "networkx"):
        pytest.importorskip(library)
    assert {sample.format for sample in SAMPLES} == set(FORMATS)


@pytest.mark.parametrize(
    "check", [pytest.param(check, id=f"{sample}: {check}") for sample in SAMPLES for check in reader_checks(sample)]
)
def test_conformance(check):
    check()


def failing(sample):
    failed = set()
    for check in reader_checks(sample):
        try:
            check()
        except Exception:
            failed.add(check.name)
    return failed


@pytest.mark.parametrize(
    ("format_", "entry", "check", "others"),
    [pytest.param(*case, id=case[1].function) for case in planted_readers.READERS],
)
def test_planted(monkeypatch, format_, entry, check, others):
    monkeypatch.setitem(FORMATS, format_, entry)
    failed = failing(FIRST[format_])
    assert check in failed
    assert failed <= {check} | others


def test_failures_are_listed(monkeypatch):
    monkeypatch.setitem(FORMATS, "svmlight", planted_readers.READERS[0][1])
    with pytest.raises(AssertionError, match=r"svmlight in a\.svm fails 1 conformance check"):
        check_reader(FIRST["svmlight"])


def test_every_check_has_its_bug():
    names = {check.name for sample in SAMPLES for check in reader_checks(sample)}
    assert names == {check for _, _, check, _ in planted_readers.READERS}
