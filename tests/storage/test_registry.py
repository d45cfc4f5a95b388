"""Every estimator and every kernel of the registry, on every kind of objects, comes back from a file as it was."""

import inspect
from functools import cache

import numpy as np
import pytest

import mercer
from mercer import kernels
from mercer._registry import ESTIMATORS, KERNELS, MODELS
from mercer._stored import Storable
from mercer.errors import ModelFileError
from mercer.testing import objects_for
from mercer.testing.examples import examples_of
from mercer.testing.samples import as_new
from tests.storage.samples import TABLE, THREE, WORDS, X, Y

OUTPUTS = ("predict", "decision_function", "predict_proba", "transform", "score_samples")
HELD = (kernels.RBF(gamma=(1.0, 0, 0)), kernels.Linear(), "rbf(gamma=0.5)")
MIXED = kernels.on("word", kernels.Spectrum(2)) + 0.5 * kernels.on(["a", "b"], kernels.RBF(gamma="scale"))
TWICE = {  # what has more than one kind of answer
    "SVC": {"probability": True, "random_state": 0},
    "NuSVC": {"probability": True, "random_state": 0, "nu": 0.2},
    "KernelKMeans": {"n_clusters": 2, "random_state": 0},
    "SpectralClustering": {"n_clusters": 2, "random_state": 0},
}


def there_and_back(model, folder):
    mercer.save(model, folder / "model")
    again = mercer.load(folder / "model")
    assert type(again) is type(model)
    return again


def require_same(again, model, objects):
    tried = [name for name in OUTPUTS if callable(getattr(model, name, None))]
    if not tried:  # it divides what it has seen, and nothing else
        np.testing.assert_array_equal(again.labels_, model.labels_)
    for name in tried:
        wanted, got = getattr(model, name)(objects), getattr(again, name)(objects)
        assert got.dtype == wanted.dtype, name
        np.testing.assert_array_equal(got, wanted, err_msg=name)


def targets_of(name):
    """Numbers for machines that learn numbers, a second view for KernelCCA, else three classes."""
    if name == "KernelCCA":
        return X[:, :2] ** 2
    number = any(word in name for word in ("Regressor", "SVR", "KernelRidge", "KernelRidgeCV"))
    return X[:, 0] + X[:, 1] ** 2 if number and "Classifier" not in name else THREE


@pytest.mark.parametrize("kind", ["vectors", "strings", "table"])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_every_estimator(name, kind, tmp_path):
    cls = ESTIMATORS[name].load()
    assert issubclass(cls, Storable), f"{name} cannot be stored"
    takes_kernels = "kernel" in inspect.signature(cls).parameters
    if kind != "vectors" and not takes_kernels:
        return  # weights of features: rows of numbers have them, and nothing else
    kernel = {"vectors": kernels.RBF(gamma="scale"), "strings": kernels.Spectrum(2), "table": MIXED}[kind]
    if name.startswith("Linear"):  # weights of features that can be written down
        written = kernels.on("word", kernels.Spectrum(2)) + kernels.on(["a", "b"], kernels.Linear())
        kernel = {"vectors": kernels.Polynomial(degree=2), "strings": kernel, "table": written}[kind]
    objects = {"vectors": X, "strings": WORDS, "table": TABLE}[kind]
    model = cls(**TWICE.get(name, {}))
    if takes_kernels:
        model.set_params(kernel=kernel)
    if name == "KernelCCA":
        model.set_params(kernel_y="linear")
    model.fit(objects, targets_of(name))
    again = there_and_back(model, tmp_path)
    assert repr(again) == repr(model)
    require_same(again, model, objects)


def test_nothing_else_is_stored():
    assert set(MODELS) - set(ESTIMATORS) == {"Cells", "MultipleKernelMachine", "TrainedModel"}


@cache
def examples(name):
    return list(examples_of(KERNELS[name].load()))


@pytest.mark.filterwarnings(
    "ignore::mercer.errors.KernelWarning", "ignore::sklearn.exceptions.ConvergenceWarning"
)  # of strings too short to have features
@pytest.mark.parametrize("name", sorted(KERNELS))
def test_every_kernel_with_its_support_objects(name, tmp_path):
    """A machine on each example kernel and each kind of sample: strings, graphs, trees, series, documents, tables."""
    stored = 0
    for kernel in examples(name):
        for kind, objects in objects_for(kernel).items():
            y = np.arange(len(objects)) % 2
            model = mercer.SVC(kernel=kernel, psd="ignore", max_iter=2000).fit(objects, y)
            path = tmp_path / f"{stored}"
            new = as_new(objects, np.arange(3))
            mercer.save(model, path)
            if "<function" in repr(kernel):
                with pytest.raises(ModelFileError, match="model files never hold code"):
                    mercer.load(path)
            again = mercer.load(path, kernel=kernel if "<function" in repr(kernel) else None)
            assert again.kernel == kernel
            got, wanted = again.decision_function(new), model.decision_function(new)
            # BLAS rounds a product by where its arrays lie in memory: the last bit may differ.
            np.testing.assert_allclose(got, wanted, rtol=1e-13, atol=1e-14, err_msg=f"{kernel} on {kind}")
            stored += 1
    assert stored or name in ("FromFunction", "FromBlocks", "FeatureMap")


class TestMultipleKernels:
    @pytest.mark.parametrize("method", ["uniform", "alignment", "margin"])
    @pytest.mark.parametrize("labels", [Y, THREE, np.array(["no", "yes"])[Y]], ids=["two", "three", "words"])
    def test_round_trip(self, method, labels, tmp_path):
        machine = mercer.MultipleKernelMachine(mercer.SVC(C=3.0), list(HELD), method=method, lam=0.2).fit(X, labels)
        again = there_and_back(machine, tmp_path)
        assert repr(again) == repr(machine)
        require_same(again, machine, X)
        np.testing.assert_array_equal(again.weights_, machine.weights_)
        assert again.kernel_.kernel == machine.kernel_.kernel
        assert again.fit(X, labels).weights_.tolist() == machine.weights_.tolist()

    @pytest.mark.parametrize("inner", ["KernelRidge", "SVR", "KernelLogisticRegression"])
    def test_any_machine_and_table(self, inner, tmp_path):
        parts = [kernels.on("word", kernels.Spectrum(p)) for p in (1, 2)] + [kernels.on(["a", "b"], kernels.RBF())]
        cls = ESTIMATORS[inner].load()
        machine = mercer.MultipleKernelMachine(cls(), parts).fit(TABLE, Y if "Log" in inner else X[:, 0])
        require_same(there_and_back(machine, tmp_path), machine, TABLE)

    def test_code_is_refused_when_saving(self, tmp_path):
        own = kernels.FromFunction(lambda a, b: float(a @ b), objects="vectors")
        machine = mercer.MultipleKernelMachine(mercer.SVC(), [own, 2.0 * own + kernels.RBF(1.0)]).fit(X, Y)
        with pytest.raises(ModelFileError, match=r"holds Python code of yours.*estimator_"):
            mercer.save(machine, tmp_path / "model")
        mercer.save(machine.estimator_, tmp_path / "model")
        again = mercer.load(tmp_path / "model", kernel=machine.estimator_.kernel)
        np.testing.assert_array_equal(again.predict(X), machine.predict(X))

    def test_hostile_values(self, tmp_path):
        from tests.storage.samples import with_header

        machine = mercer.MultipleKernelMachine(mercer.SVC(), list(HELD)).fit(X, Y)
        mercer.save(machine, tmp_path / "model")
        data = (tmp_path / "model").read_bytes()
        for key, value in (
            ("mixed_estimator", "os.system"), ("mixed_estimator", "LinearSVC"), ("mixed_estimator", 3),
            ("mixed_kernels", []), ("mixed_kernels", [1]), ("mixed_kernels", {"tuple": []}), ("mixed_method", "magic"),
            ("mixed_lam", "x"), ("mixed_kernel", None), ("mixed_kernels", ["rbf"]),
        ):  # fmt: skip
            (tmp_path / "bad").write_bytes(with_header(data, lambda h, k=key, v=value: h["values"].update({k: v})))
            with pytest.raises((ModelFileError, ValueError)):
                mercer.load(tmp_path / "bad")
