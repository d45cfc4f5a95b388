"""A loaded model is the saved one."""

import io
import json
import os
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

import mercer
from mercer import SVC, kernels
from mercer._registry import KERNELS
from mercer.errors import InputTypeError, MercerError, ModelFileError
from mercer.storage import models
from mercer.storage.format import Member, opened
from mercer.storage.tree import Decoder, Encoder
from mercer.testing.examples import examples_of
from tests.storage.samples import CASES, WORDS, X, Y, fitted


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.mercer"


def plain(value):
    return value.toarray() if sp.issparse(value) else np.asarray(value)


@pytest.mark.parametrize("name", CASES)
def test_predicts_exactly_as_before(name, path):
    model, objects = fitted(name)
    mercer.save(model, path)
    loaded = mercer.load(path)
    np.testing.assert_array_equal(loaded.decision_function(objects), model.decision_function(objects))
    predicted = loaded.predict(objects)
    assert predicted.dtype == model.predict(objects).dtype
    np.testing.assert_array_equal(predicted, model.predict(objects))
    assert loaded.get_params(deep=False) == model.get_params(deep=False)
    assert loaded.kernel_.kernel == model.kernel_.kernel
    assert loaded.certificate_ == model.certificate_
    assert loaded.__dict__.keys() == model.__dict__.keys() - {"_few"}  # training objects, for `show_work`
    for attribute, value in model.__dict__.items():
        if isinstance(value, np.ndarray) or sp.issparse(value):
            np.testing.assert_array_equal(plain(getattr(loaded, attribute)), plain(value), err_msg=attribute)
            assert getattr(loaded, attribute).dtype == value.dtype, attribute


def test_same_model_same_bytes(path, tmp_path):
    model, _ = fitted("table")
    mercer.save(model, path)
    mercer.save(mercer.load(path), tmp_path / "again")
    assert path.read_bytes() == (tmp_path / "again").read_bytes()


def test_numpy_reads_the_members(path):
    model, _ = fitted("three classes")
    mercer.save(model, path)
    with np.load(path, allow_pickle=False) as archive:
        np.testing.assert_array_equal(archive["expansion/coefficients"], model.expansion_.coefficients)
        np.testing.assert_array_equal(archive["arrays/classes_"], model.classes_)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert json.loads(archive.read("header.json"))["format"] == "mercer model"


def test_feature_names_are_kept(path):
    frame = pytest.importorskip("pandas").DataFrame(X, columns=["a", "b", "c"])
    model = SVC().fit(frame, Y)
    mercer.save(model, path)
    loaded = mercer.load(path)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["c", "b", "a"]])


@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_kernel_comes_back_equal(name):
    for kernel in examples_of(KERNELS[name].load()):
        encoder = Encoder()
        node = json.loads(json.dumps(encoder.value(kernel, "kernel")))
        given = kernel if '"function"' in json.dumps(node) else None
        decoded = Decoder(encoder.arrays).kernel(node, given)
        assert decoded == kernel
        assert repr(decoded) == repr(kernel)


def test_extreme_labels_and_weights(path):
    odd = "zażółć \U0001f600 \ud800"
    labels = np.array(["", odd])[Y]
    model = SVC(class_weight={"": 0.1 + 0.2, odd: 1.5}).fit(X, labels)
    mercer.save(model, path)
    loaded = mercer.load(path)
    assert loaded.class_weight == model.class_weight
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_loaded_model_can_be_trained_again(path):
    model, objects = fitted("strings")
    mercer.save(model, path)
    loaded = mercer.load(path).fit(objects, 1 - Y)
    assert (loaded.predict(objects) != model.predict(objects)).mean() > 0.8


# ------------------------------------------------------------------------------------------------------- user's code


def dot(left, right):
    return left @ right.T


def first_letters(a, b):
    return float(a[0] == b[0])


def test_functions_are_asked_for(path):
    model = SVC(kernel=dot).fit(X, Y)
    mercer.save(model, path)
    with pytest.raises(ModelFileError, match=r"'dot', and model files never hold code.*kernel="):
        mercer.load(path)
    for given in (dot, kernels.FromBlocks(dot)):
        loaded = mercer.load(path, kernel=given)
        assert loaded.kernel == given
        np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_functions_inside_composites(path):
    mine = kernels.FromFunction(first_letters, objects="strings")
    kernel = kernels.Spectrum(2) + 0.5 * mine
    model = SVC(kernel=kernel).fit(WORDS, Y)
    mercer.save(model, path)
    loaded = mercer.load(path, kernel=kernel)
    assert loaded.kernel == kernel
    np.testing.assert_array_equal(loaded.decision_function(WORDS), model.decision_function(WORDS))
    with pytest.raises(ModelFileError, match="not the one that the model was trained with"):
        mercer.load(path, kernel=kernels.Spectrum(3) + 0.5 * mine)
    for wrong in (kernels.Spectrum(2), mine, first_letters, kernels.Spectrum(2) + mine, "rbf", 3):
        with pytest.raises(ModelFileError):
            mercer.load(path, kernel=wrong)


def test_a_given_kernel_must_match_a_complete_file(path):
    mercer.save(fitted("strings")[0], path)
    mercer.load(path, kernel=kernels.normalise(kernels.Spectrum(2)))
    with pytest.raises(ModelFileError, match=r"is not the one.*spectrum\(p=2\)"):
        mercer.load(path, kernel=kernels.normalise(kernels.Spectrum(3)))


def test_items_of_plain_data(path):
    sets = [set(word) for word in WORDS]
    kernel = kernels.FromFunction(lambda a, b: float(len(a & b)), objects="items")
    model = SVC(kernel=kernel).fit(sets, Y)
    mercer.save(model, path)
    with pytest.raises(ModelFileError, match="never hold code"):
        mercer.load(path)
    again = mercer.load(path, kernel=kernel)
    assert again.expansion_.support.items == model.expansion_.support.items
    np.testing.assert_allclose(again.decision_function(sets), model.decision_function(sets), rtol=1e-13, atol=1e-14)


@dataclass
class Atom:
    element: str
    place: tuple[float, float]


class Bond(NamedTuple):
    atoms: tuple[Atom, Atom]
    order: int


def test_items_of_ones_own_classes(path):
    atoms = [Atom("C" if label else "N", (float(x), 0.5)) for label, x in zip(Y, X[:, 0], strict=True)]
    bonds = [Bond((atom, atoms[0]), 1 + number % 2) for number, atom in enumerate(atoms)]
    kernel = kernels.FromFunction(
        lambda a, b: (a.atoms[0].element == b.atoms[0].element) + 0.1 * a.order * b.order, objects="items"
    )
    model = SVC(kernel=kernel).fit(bonds, Y)
    mercer.save(model, path)
    with pytest.raises(ModelFileError, match=r"class 'Bond'.*classes=\[...\]"):
        mercer.load(path, kernel=kernel)
    again = mercer.load(path, kernel=kernel, classes=[Atom, Bond])
    assert again.expansion_.support.items == model.expansion_.support.items
    assert (again.predict(bonds) == model.predict(bonds)).all()
    with pytest.raises(InputTypeError, match="dataclasses"):
        mercer.load(path, kernel=kernel, classes=[int])


def test_items_of_anything_else_are_refused(path):
    kernel = kernels.FromFunction(lambda a, b: float(a is b), objects="items")
    model = SVC(kernel=kernel).fit([object() for _ in WORDS], Y)
    with pytest.raises(ModelFileError, match="holds a object, and model files contain only plain data"):
        mercer.save(model, path)
    assert list(path.parent.iterdir()) == []


# ---------------------------------------------------------------------------------------------------------- refusals


def test_unfitted(path):
    with pytest.raises(MercerError, match=r"not fitted yet. Call fit first") as caught:
        mercer.save(SVC(), path)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, AttributeError)
    assert not path.exists()


def test_not_one_of_ours(path):
    from sklearn.svm import SVC as Theirs

    for model in (Theirs().fit(X, Y), object(), None, kernels.RBF()):
        with pytest.raises(ModelFileError, match="model files hold Mercer's own estimators"):
            mercer.save(model, path)


def test_unstorable_parameters(path):
    model = SVC(random_state=np.random.RandomState(0)).fit(X, Y)
    with pytest.raises(ModelFileError, match="params/random_state is of type RandomState"):
        mercer.save(model, path)
    with pytest.raises(ModelFileError, match="'verbose' parameter of SVC is a Python function"):
        mercer.save(SVC(verbose=print).fit(X, Y), path)
    with pytest.raises(ModelFileError, match="out of range"):
        mercer.save(SVC(random_state=10**30).fit(X, Y), path)
    assert not path.exists()


def test_header_says_what_is_inside(path):
    mercer.save(fitted("table")[0], path)
    with opened(os.fspath(path)) as container:
        assert container.header["estimator"] == "SVC"
        assert container.header["expansion"]["kernel"]["kernel"] == "Sum"
    header, arrays = models.take_apart(fitted("table")[0])
    assert set(header["members"]) == set(arrays)


@pytest.mark.parametrize("dtype", ["<f8", "<f4", "|b1", "<U7"])
def test_arrays_begin_as_numpy_has_them_and_no_longer_than_they_must(dtype):
    """The data of every array begin at a multiple of 64, and at the first of these that leaves room for the header."""
    for shape in [(), *((10**digits, *[1] * more) for digits in range(3) for more in range(30))]:
        prefix = Member(dtype, shape, "0" * 64).prefix
        assert len(prefix) % 64 == 0
        assert len(prefix.rstrip()) + 1 > len(prefix) - 64
        stream = io.BytesIO(prefix)
        assert np.lib.format.read_magic(stream) == (1, 0)
        assert np.lib.format.read_array_header_1_0(stream) == (shape, False, np.dtype(dtype))
