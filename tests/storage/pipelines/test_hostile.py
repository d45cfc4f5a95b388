"""Pipelines in files that nobody should trust, each refused for its own reason."""

import json
import re
import time

import numpy as np
import pytest
from sklearn.impute import SimpleImputer

import mercer
from mercer.errors import ModelFileError
from mercer.storage.format import described
from mercer.storage.known import codecs
from mercer.storage.pipelines import encoding
from mercer.storage.pipelines.codec import outputs_of
from mercer.storage.pipelines.texts import refuse_slow_pattern
from tests.storage.pipelines.samples import CASES, fitted
from tests.storage.samples import rewritten, with_header


@pytest.fixture
def refused(tmp_path):
    """Loading a sample after such a change to its header is refused with such a message, and at once."""

    def check(name, change, message):
        path = tmp_path / "model"
        mercer.save(fitted(name)[0], path)
        path.write_bytes(change(path.read_bytes()))
        began = time.monotonic()
        with pytest.raises(ModelFileError) as caught:
            mercer.load(path)
        assert re.search(message, str(caught.value)), caught.value
        assert time.monotonic() - began < 5

    return check


def step(number, **changes):
    """Another parameter of one step."""

    def change(header):
        header["params"]["steps"][number]["tuple"][1]["params"].update(changes)

    return lambda data: with_header(data, change)


def learnt(number, **changes):
    """Another value that one step has learnt."""

    def change(header):
        header["params"]["steps"][number]["tuple"][1]["values"].update(changes)

    return lambda data: with_header(data, change)


def array(ending, replace):
    """Another array, described truthfully."""

    def change(members):
        header = json.loads(members["header.json"])
        (name,) = [name for name in header["members"] if name.endswith(ending)]
        file = f"{name}.npy"
        old = np.frombuffer(members[file][-(len(members[file]) - 128) :], dtype=header["members"][name]["dtype"])
        member, plain = described(np.asarray(replace(old.reshape(header["members"][name]["shape"]))))
        header["members"][name] = {"dtype": member.dtype, "shape": list(member.shape), "sha256": member.sha256}
        members[file] = member.prefix + plain.tobytes()
        members["header.json"] = json.dumps(header).encode()

    return lambda data: rewritten(data, change)


def test_classes_that_are_not_known(refused):
    def other(name):
        def change(header):
            header["params"]["steps"][0]["tuple"][1]["model"] = name

        return lambda data: with_header(data, change)

    for name in ("os.system", "FunctionTransformerX", "RandomForestClassifier", 3, None):
        refused("standard", other(name), "asks for the estimator")


def test_code_is_never_asked_for_by_a_transformer(refused):
    refused("tf-idf", step(0, tokenizer={"function": "split"}), "never hold code")
    refused("imputer", step(0, strategy={"function": "mean"}), "never hold code")


def test_columns_must_agree(refused):
    refused("standard", array("0/1/arrays/mean_", lambda old: old[:-1]), "shape")
    refused("standard", array("0/1/arrays/scale_", lambda old: old * 0), "out of range")
    refused("standard", array("0/1/arrays/mean_", lambda old: old * np.nan), "not finite")
    refused("standard", learnt(0, n_features_in_=5), "shape")
    refused("standard", learnt(0, n_features_in_=-1), "number of columns")
    refused("pca", learnt(0, n_components_=3), "wrong number of components")
    refused("variance", array("0/1/arrays/variances_", lambda old: old * [1, 1, 1, 0]), "gets 3 columns")
    refused("counts", array("1/1/arrays/idf_", lambda old: old[:-1]), "shape")
    refused("quantile", array("quantiles_", lambda old: old[::-1].copy()), "not in order")


def test_absurd_work_is_refused(refused):
    refused("polynomial", step(0, degree=50), "columns|degree")
    refused("polynomial", step(0, degree=10**9), "degree")
    refused("polynomial", lambda data: learnt(0, n_output_features_=10**9)(step(0, degree=90)(data)), "columns")
    refused("hashing", step(0, n_features=2**31 - 1), "gets 2147483647 columns|n_features")
    refused("columns by number", step(0, n_jobs=10**6), "n_jobs")
    refused("tf-idf", step(0, token_pattern="(a+)+$"), "token_pattern")
    refused("tf-idf", step(0, ngram_range={"tuple": [1, -3]}), "n-grams")


def test_categories_and_fillings(refused):
    def repeated(old):
        text = bytes(old).replace(b'"red"', b'"blue"')
        return np.frombuffer(text, dtype=np.uint8)

    refused("one hot", array("0/1/arrays/categories___text", repeated), "twice")
    refused("one hot", step(0, drop="first", handle_unknown=5), "handle_unknown")
    refused("one hot grouped", step(0, min_frequency=None), "groups")
    refused("ordinal", step(0, max_categories=2), "groups")


def text(ending, old, new):
    """Plain data with something else at its first such place."""

    def change(found):
        assert old in bytes(found)
        return np.frombuffer(bytes(found).replace(old, new, 1), dtype=np.uint8)

    return array(ending, change)


def test_bins(refused):
    refused("bins", array("bin_edges___of_f8", lambda old: old[::-1].copy()), "not in order")
    refused("bins", array("bin_edges___of_f8", lambda old: old * np.nan), "not in order")
    refused("bins", text("bin_edges___text", b"[5],0", b"[1],0"), "no edges")
    refused("bins", text("bin_edges___text", b"[5],0", b"[5,1],0"), "no edges")
    refused("bins", text("bin_edges___text", b'["a",["<f8",[5],0]],', b""), "no edges")
    refused("bins", text("bin_edges___text", b"[5],0", b"[4],0"), "gets 15 columns")
    refused("bins", step(0, encode="other"), "encode")


def test_splines(refused):
    refused("splines", array("bsplines_", lambda old: old[::-1].copy()), "not in order")
    refused("splines", array("bsplines_", lambda old: old * np.nan), "not finite")
    refused("splines", array("bsplines_", lambda old: old[:-1]), "number of knots")
    refused("splines", array("bsplines_", lambda old: old[:, :-1].copy()), "shape")
    refused("splines", step(0, degree=10**9), "number of knots")
    refused("splines", step(0, n_knots=10**9), "number of knots")
    refused("splines", step(0, degree=4, n_knots=2, extrapolation="periodic"), "degree is too high")
    many = np.linspace(-9, 9, 5006)[:, None] * np.ones(4)
    refused("splines", lambda data: step(0, n_knots=5000)(array("bsplines_", lambda old: many)(data)), "too many")


def test_encodings_by_targets(refused):
    refused("by target", learnt(0, target_type_="other"), "unknown kind")
    refused("by target", learnt(0, target_type_="multiclass"), "classes")
    refused("by target", learnt(0, target_type_="continuous"), "classes")
    refused("by target", array("encodings___of_f8", lambda old: old * np.inf), "encodings")
    refused("by target", text("encodings___text", b'"<f8",[', b'"<f8",[1,'), "encodings")
    refused("by the target of three classes", array("target_mean___of_f8", lambda old: old * np.nan), "means")
    refused("by the target of three classes", text("target_mean___text", b"[3]", b"[2]"), "means")
    refused("by the target of three classes", text("encodings___text", b'["a",["<f8",[4],0]],', b""), "wrong number")


def test_parts_of_pipelines(refused):
    def steps(replace):
        def change(header):
            header["params"]["steps"] = replace(header["params"]["steps"])

        return lambda data: with_header(data, change)

    refused("standard", step(0, copy="no"), "copy")
    refused("standard", steps(lambda old: 5), "steps")
    refused("standard", steps(lambda old: [{"tuple": ["a", "evil"]}, *old[1:]]), "nothing in its header uses|evil")
    refused("standard", lambda data: with_header(data, lambda h: h["params"].update(memory="/tmp")), "folder")
    refused("union", step(0, transformer_weights={"dict": [["two", "x"]]}), "weights")
    refused("columns by number", step(0, remainder=3), "remainder")


def test_searches(refused):
    def values(**changes):
        return lambda data: with_header(data, lambda header: header["values"].update(changes))

    def params(**changes):
        return lambda data: with_header(data, lambda header: header["params"].update(changes))

    refused("search", values(best_index_=99), "not one of those tried")
    refused("search", values(candidates=[]), "settings|best setting")
    refused("search", params(refit=False), "best model")
    refused("search", params(cv={"dict": [["splitter", "os"]]}), "splitter")
    refused("search", params(scoring="no such score"), "InvalidParameterError|scoring")


def test_slow_patterns():
    for good in (r"(?u)\b\w\w+\b", r"\w+", r"[a-z]{2,}(?:-[a-z]+)?", None, r"(?:a|b+)c"):
        refuse_slow_pattern(good)
    for bad in (r"(a+)+", r"(a*)*b", r"(\w+\s?)*$", r"(a)\1+", "(", "a" * 300, r"a*a*a*a*", 5, r"(?=(a+)+)b"):
        with pytest.raises(ModelFileError, match="token_pattern"):
            refuse_slow_pattern(bad)


def test_every_codec_is_tried():
    """Each class that a file may hold is in a sample."""
    from tests.storage.pipelines import samples

    if samples.pd is None:
        pytest.skip("no-run: some samples are data frames, and pandas is not installed")
    used = " ".join(repr(fitted(name)[0]) + str(vars(fitted(name)[0])) for name in CASES)
    assert [name for name in codecs() if name not in used] == []


def test_columns_that_are_made():
    assert outputs_of(fitted("polynomial")[0][0]) == fitted("polynomial")[0][:-1].transform(np.zeros((1, 4))).shape[1]
    assert outputs_of(object()) is None


@pytest.mark.parametrize("filling", [{}, [1], int])
def test_fillings_are_numbers_or_strings(filling):
    model = SimpleImputer(strategy="most_frequent").fit([["a"], ["b"], ["a"]])
    encoding._imputer(model)
    model.statistics_ = np.array([None], dtype=object)
    model.statistics_[0] = filling
    with pytest.raises(ModelFileError, match="neither numbers nor strings"):
        encoding._imputer(model)
