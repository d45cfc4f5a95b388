"""What every kernel on strings and sets owes: symmetry, slicing, precision, storage, and answers to bad input."""

import warnings

import numpy as np
import pytest

from mercer import kernels
from mercer._registry import KERNELS
from mercer.errors import InputError, KernelWarning, ParameterError
from mercer.gram.executors import Serial, Threads
from mercer.gram.make import gram_of
from mercer.inputs.sets import Sets
from mercer.inputs.strings import Strings

ALL = [
    kernel
    for entry in KERNELS.values()
    if entry.module.startswith(("mercer.kernels.strings", "mercer.kernels.sets"))
    for kernel in entry.load().examples()
]
EVERY = [*ALL, *(kernels.normalise(kernel) for kernel in ALL[::3]), ALL[0] + 0.5 * kernels.GapWeighted()]


def objects_for(kernel, n=9):
    rng = np.random.default_rng(5)
    if kernel.domain is Strings:
        letters = list("ACGT")
        return ["".join(rng.choice(letters, size=size)) for size in (0, 1, 2, 30, 31, 7, 12, 12, 8)[:n]]
    if kernel.domain is Sets:
        return [rng.integers(0, 9, size=size).tolist() for size in (0, 1, 3, 5, 5, 7, 9, 2, 4)[:n]]
    return [rng.normal(size=(size, 2)) for size in (1, 3, 2, 5, 1, 4, 2, 2, 3)[:n]]


def fit(kernel, raw):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        return kernel.fit(raw)


@pytest.mark.parametrize("kernel", EVERY, ids=str)
def test_the_contract(kernel):
    raw = objects_for(kernel)
    fitted = fit(kernel, raw)
    objects = kernel.coerce(raw)
    features = fitted.features(objects)
    whole = fitted(objects)
    size = np.sqrt(np.outer(np.diag(whole), np.diag(whole))) + 1e-30
    tile = np.empty((9, 9))
    fitted.tile(*fitted.align(features, features), tile)
    np.testing.assert_allclose(tile, tile.T, rtol=1e-12, atol=1e-300)
    np.testing.assert_allclose(np.diag(tile), fitted.diagonal(features), rtol=1e-9, atol=1e-300)
    rows, columns = np.asarray([4, 0, 8]), np.asarray([3, 3, 7, 1])
    part = np.empty((3, 4))
    fitted.tile(*fitted.align(features.take(rows), features.take(columns)), part)
    np.testing.assert_allclose(part, tile[np.ix_(rows, columns)], rtol=1e-9, atol=1e-300)
    apart = fitted(objects.take(slice(2, 6)), objects.take(slice(0, 5)))
    np.testing.assert_allclose(apart, tile[2:6, :5], rtol=1e-9, atol=1e-300)
    if kernel.psd:
        values = np.linalg.eigvalsh(whole / size.max())
        assert values[0] > -1e-9 * max(values[-1], 1e-300)
    if kernel.single_precision(features, fitted.state):
        single = gram_of(fitted, objects, dtype=np.float32).dense()
        assert np.abs(single - whole).max() <= 1e-5 * size.max()
    serial = gram_of(fitted, objects, executor=Serial()).dense()
    np.testing.assert_array_equal(serial, gram_of(fitted, objects, executor=Threads(2)).dense())
    stored = type(objects).from_arrays(objects.to_arrays())
    np.testing.assert_array_equal(fitted(stored), whole)


@pytest.mark.parametrize("kernel", ALL, ids=str)
def test_records(kernel):
    names = {name: entry.load() for name, entry in KERNELS.items()} | {"array": np.array, "Kernel": kernels.Kernel}
    assert eval(repr(kernel), names) == kernel  # noqa: S307
    assert hash(kernel) == hash(kernel.with_params())
    assert type(kernel).examples.__self__ is type(kernel)


def test_costly_entries_make_small_tiles():
    texts = ["ab" * 2000, "ba" * 2000]
    kernel = kernels.GapWeighted(p=5)
    fitted = kernel.fit(texts)
    features = fitted.features(fitted.coerce(texts))
    assert 1 <= kernel.tile_entries(features, features, fitted.state) <= 64
    assert kernels.normalise(kernel).psd


@pytest.mark.parametrize(
    "make",
    [
        lambda: kernels.Spectrum(p=0),
        lambda: kernels.Spectrum(p=1.5),
        lambda: kernels.Spectrum(algorithm="tree"),
        lambda: kernels.Spectrum(tokens="letters"),
        lambda: kernels.Spectrum(normalize="nfc"),
        lambda: kernels.Spectrum(lowercase=1),
        lambda: kernels.BlendedSpectrum(decay=0),
        lambda: kernels.Mismatch("ACGT", p=3, m=3),
        lambda: kernels.Mismatch("AAC"),
        lambda: kernels.Mismatch(4),
        lambda: kernels.GappedKmer(l=4, k=5),
        lambda: kernels.GappedKmer(reverse_complement=True, alphabet="ACDE"),
        lambda: kernels.GappedKmer(l=2, k=1, weights=(1.0,) * 4),
        lambda: kernels.GappedKmer(unknown="ignore"),
        lambda: kernels.GapWeighted(decay=0),
        lambda: kernels.GapWeighted(decay=1.1),
        lambda: kernels.GapWeighted(decay=float("nan")),
        lambda: kernels.GapNumberWeighted(decay=-0.1),
        lambda: kernels.CharacterWeighted({"a": -1.0}),
        lambda: kernels.CharacterWeighted(3),
        lambda: kernels.SoftMatching([[1.0, 2.0], [0.0, 1.0]], "ab"),
        lambda: kernels.SoftMatching([[1.0]], "ab"),
        lambda: kernels.SoftMatching([[1.0]]),
        lambda: kernels.LocalAlignment(beta=0),
        lambda: kernels.LocalAlignment(gap_open=-1.0),
        lambda: kernels.LocalAlignment(beta=1e3),
        lambda: kernels.LocalAlignment(alphabet="ab"),
        lambda: kernels.RestrictedGapWeighted(m=-1),
        lambda: kernels.RestrictedGapWeighted(p=20, m=40),
        lambda: kernels.WeightedDegree(shift=-1),
    ],
)
def test_parameters_out_of_range(make):
    with pytest.raises(ParameterError, match="parameter of"):
        make()


@pytest.mark.parametrize(
    "kernel",
    [
        kernels.Mismatch("ACGT"),
        kernels.GappedKmer(l=3, k=2, reverse_complement=True),
        kernels.SoftMatching(np.eye(4), "ACGT"),
        kernels.LocalAlignment(matrix=np.eye(4), alphabet="ACGT"),
    ],
    ids=lambda kernel: type(kernel).__name__,
)
def test_symbols_outside_the_alphabet_are_placed(kernel):
    with pytest.raises(InputError, match="String 1 has 'N' at position 2"):
        kernel.fit(["ACGT", "ACNT"])
    with pytest.raises(InputError, match="String 0 has 'N' at position 0"):
        kernel.fit(["ACGT"])(["NCGT"], ["ACGT"])


def test_short_strings_are_told_once_and_compare_as_zero():
    with pytest.warns(KernelWarning, match="2 of 3 strings are shorter than 4"):
        fitted = kernels.normalise(kernels.Spectrum(p=4)).fit(["abc", "", "abcd"])
    np.testing.assert_array_equal(fitted(["abc", "", "abcd"]), np.diag([0, 0, 1]))
    for kernel in (kernels.GappedKmer(l=4, k=2), kernels.GapWeighted(p=4), kernels.RestrictedGapWeighted(p=4)):
        with pytest.warns(KernelWarning, match="shorter than 4"):
            kernel.fit(["abc", "abcd"])
    empty = kernels.AllSubsequences().fit([""])([""])
    assert empty[0, 0] == 1


def test_options_for_text_need_text():
    with pytest.raises(InputError, match="Prepare the tokens before"):
        kernels.Spectrum(p=1, lowercase=True).fit([["A", "b"]])
