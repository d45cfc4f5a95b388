"""Kernels on time series: the worked examples, enumeration, range, and what is refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mercer
from mercer import SVC, kernels
from mercer.errors import InputError, ParameterError
from mercer.kernels.series.global_alignment import sigma_of
from tests.oracles import series as oracle

SHORT = [list(word) for n in (1, 2, 3) for word in itertools.product((0, 1, 2), repeat=n)]
numbers = st.floats(-3, 3, allow_nan=False)


@st.composite
def batches(draw):
    channels = draw(st.integers(1, 2))
    lengths = draw(st.lists(st.integers(1, 4), min_size=2, max_size=4))
    return [
        np.asarray(draw(st.lists(numbers, min_size=n * channels, max_size=n * channels))).reshape(n, channels)
        for n in lengths
    ]


def test_worked_examples():
    pair = [[0, 1, 2], [0, 2]]
    kernel = kernels.GlobalAlignment(sigma=1.0)
    wanted = [[3.9053096204, 1.1231725359], [1.1231725359, 1.1451577670]]
    np.testing.assert_allclose(kernel.fit(pair)(pair), wanted, atol=1e-9)
    np.testing.assert_allclose(kernels.normalise(kernel).fit(pair)(pair)[0, 1], 0.5311119563, atol=1e-9)


def test_a_wide_kernel_counts_alignments():
    fitted = kernels.GlobalAlignment(sigma=1e9).fit([[0.0]])
    np.testing.assert_allclose(fitted([[0, 1, 2]], [[5, 6, 7], [1, 2]]), [[13, 5]], atol=1e-9)


@settings(max_examples=30)
@given(batches(), st.sampled_from([None, 1, 2, 3]))
def test_enumeration(batch, band):
    found = kernels.GlobalAlignment(sigma=1.5, band=band).fit(batch)(batch)
    wanted = [[oracle.global_alignment(x, z, 1.5, band) for z in batch] for x in batch]
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
    warped = kernels.DynamicTimeWarping(gamma=0.3, band=band).fit(batch)(batch)
    wanted = [[math.exp(-0.3 * oracle.warping(x, z, band)) for z in batch] for x in batch]
    np.testing.assert_allclose(warped, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("band", [None, 1, 2, 3])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 2.0, 10.0])
def test_positive_semidefinite(sigma, band):
    kernel = kernels.GlobalAlignment(sigma=sigma, band=band)
    assert np.linalg.eigvalsh(kernels.normalise(kernel).fit(SHORT)(SHORT))[0] > -1e-12
    if sigma == 1.0 and band is None:
        assert np.linalg.eigvalsh(kernel.fit(SHORT)(SHORT))[0] == pytest.approx(0.0887, abs=1e-4)


def test_warping_is_indefinite_and_says_so():
    kernel = kernels.DynamicTimeWarping(gamma=0.5)
    assert np.linalg.eigvalsh(kernel.fit(SHORT)(SHORT))[0] == pytest.approx(-0.415, abs=1e-3)
    assert not kernel.psd
    assert "not proven PSD" in kernel.derivation()


@pytest.mark.parametrize("sigma", ["median", 1.0, 0.01])
def test_two_thousand_moments(sigma):
    random = np.random.default_rng(0)
    series = [random.normal(size=2000).cumsum() for _ in range(2)] + [random.normal(size=1900).cumsum()]
    fitted = kernels.normalise(kernels.GlobalAlignment(sigma=sigma)).fit(series)
    K = fitted(series)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(np.diag(K), 1.0)
    width = fitted.state.parts[0].number("sigma")
    x, z = series[0][:300], series[1][:250]
    logs = [oracle.log_global_alignment(*pair, width) for pair in ((x, z), (x, x), (z, z))]
    np.testing.assert_allclose(fitted([x], [z])[0, 0], math.exp(logs[0] - 0.5 * (logs[1] + logs[2])), rtol=1e-9)


def test_a_scale_for_every_cell_changes_no_value():
    """Narrow kernels leave the range of float64, and are computed another way."""
    random = np.random.default_rng(1)
    x, z = random.normal(size=(60, 2)), random.normal(size=(70, 2))
    for band in (None, 30):
        kernel = kernels.GlobalAlignment(sigma=0.2, band=band)
        state = kernel.fit([x]).state
        left, right = (kernel.features(kernel.coerce([one]), state, np.float64) for one in (x, z))
        out = np.empty((1, 1))
        kernel.log_tile(left, right, state, out)
        assert out[0, 0] < -1000  # far below 2^-1022 on the scale of the fast loop
        if band is None:
            assert out[0, 0] * math.log(2) == pytest.approx(oracle.log_global_alignment(x, z, 0.2), rel=1e-12)


def test_far_apart_compares_as_nothing():
    fitted = kernels.normalise(kernels.GlobalAlignment(sigma=1e-3)).fit([[0.0, 1.0]])
    np.testing.assert_array_equal(fitted([[1e300, -1e300], [0.0, 1.0]]), np.eye(2))


def test_sigma_by_the_rule():
    series = [[0.0, 1.0, 3.0], [0.0, 1.0, 3.0, 7.0], [2.0]]
    everything = np.concatenate(series)
    gaps = np.abs(np.subtract.outer(everything, everything))[np.triu_indices(len(everything), 1)]
    fitted = kernels.GlobalAlignment().fit(series)
    assert fitted.state.number("sigma") == pytest.approx(np.median(gaps) * math.sqrt(3))
    assert sigma_of(fitted.coerce([[1.0, 1.0]])) == 1.0


def test_columns_of_tables():
    rows = {"curve": [[0.0, 1.0, 2.0], [0.0, 2.0]], "t0": [0.0, 1.0], "t1": [1.0, 2.0], "t2": [2.0, 2.0]}
    one = kernels.on("curve", kernels.GlobalAlignment(sigma=1.0))
    assert one.fit(rows)(rows)[0, 1] == pytest.approx(1.1231725359, abs=1e-9)
    several = kernels.on(["t0", "t1", "t2"], kernels.GlobalAlignment(sigma=1.0))
    wanted = kernels.GlobalAlignment(sigma=1.0).fit([[0, 1, 2]])([[0, 1, 2]], [[1, 2, 2]])
    assert several.fit(rows)(rows)[0, 1] == pytest.approx(wanted[0, 0])
    assert kernels.parse(str(one)) == one


def test_equal_lengths_in_a_column():
    rows = {"curve": [[0.0, 1.0], [0.0, 2.0]]}
    assert kernels.on("curve", kernels.GlobalAlignment(sigma=1.0)).fit(rows)(rows).shape == (2, 2)


def test_text_and_model_files(tmp_path):
    random = np.random.default_rng(0)
    series = [random.normal(size=(size, 2)) + size % 2 for size in random.integers(4, 9, size=20)]
    labels = [len(one) % 2 for one in series]
    kernel = kernels.parse("normalise(global_alignment(band=5)) + dtw(gamma=0.1)")
    assert not kernel.psd
    model = SVC(kernel=kernel).fit(series, labels)
    mercer.save(model, tmp_path / "model")
    loaded = mercer.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(series), model.decision_function(series))


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([[0.0, 1.0], [0.0, math.nan, 2.0]], "Series 1 holds nan at moment 1, channel 0"),
        ([np.array([[0.0, 1.0], [2.0, math.inf]])], "Series 0 holds inf at moment 1, channel 1"),
        ([[0.0], []], "Series 1 is empty"),
        ([], "Found 0 time series"),
        ("abc", "got one str"),
        ([["a", "b"]], "item 0 is"),
        ([[0.0, 1.0], "abc"], "item 1 is 'abc'"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], "series 1 has 1 and series 0 has 2"),
        (np.zeros(3), r"got shape \(3,\)"),
        ([np.zeros((2, 2, 2))], "item 0 is"),
        ([np.ma.masked_array([1.0, 2.0], [0, 1])], "Series 0 is a masked array whose entry at row 1 is masked"),
    ],
)
def test_refused(raw, message):
    with pytest.raises(InputError, match=message):
        kernels.GlobalAlignment().fit(raw)


def test_other_channels_are_refused():
    for kernel in (kernels.GlobalAlignment(), kernels.DynamicTimeWarping()):
        with pytest.raises(InputError, match="have 2 channels, those of training have 1"):
            kernel.fit([[0.0, 1.0]])([np.zeros((2, 2))], [[0.0]])


@pytest.mark.parametrize(
    "make",
    [
        lambda: kernels.GlobalAlignment(sigma=0.0),
        lambda: kernels.GlobalAlignment(sigma="mean"),
        lambda: kernels.GlobalAlignment(band=0),
        lambda: kernels.DynamicTimeWarping(gamma="auto"),
        lambda: kernels.DynamicTimeWarping(gamma=-1.0),
        lambda: kernels.DynamicTimeWarping(band=-1),
    ],
)
def test_parameters(make):
    with pytest.raises(ParameterError, match="parameter of"):
        make()
