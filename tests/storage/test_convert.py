"""Models of LIBSVM and scikit-learn, taken over and handed on, checked against the tools themselves."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.svm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, make_classification

import mercer
from mercer import SVC, kernels
from mercer.errors import InputError, ModelFileError
from mercer.storage.convert import from_sklearn
from mercer.storage.libsvm import from_libsvm, to_libsvm

X, Y = make_classification(90, 5, n_informative=4, n_redundant=0, n_classes=3, n_clusters_per_class=1, random_state=0)
X[np.abs(X) < 0.3] = 0.0
NEW = np.random.default_rng(1).normal(size=(40, 5))
TWO = np.where(Y > 0, 7, -3)
SHAPES: list[dict[str, Any]] = [
    {"kernel": "linear"},
    {"kernel": "rbf", "gamma": 0.3},
    {"kernel": "poly", "degree": 2, "gamma": 0.5, "coef0": 1.0},
    {"kernel": "sigmoid", "gamma": 0.01, "coef0": 0.1},
]
BY_NAME = pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape["kernel"])


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no-run: {name} of libsvm-tools is not installed")
    return found


def predicted_by_libsvm(model: Path, rows: Any, folder: Path) -> Any:
    dump_svmlight_file(rows, np.zeros(rows.shape[0]), str(folder / "rows"), zero_based=False)
    subprocess.run([tool("svm-predict"), "-q", folder / "rows", model, folder / "out"], check=True, timeout=60)
    return np.loadtxt(folder / "out")


def decisions_by_the_book(path: Path, rows: Any) -> tuple[list[int], Any]:
    """Labels, and the decision of each pair of them in the file's order: the format, read naively."""
    header, _, body = path.read_text().partition("SV\n")
    entries = {line.split()[0]: line.split()[1:] for line in header.splitlines()}
    counts = [int(count) for count in entries["nr_sv"]]
    vectors, coefficients = [], []
    for line in body.splitlines():
        parts = line.split()
        coefficients.append([float(part) for part in parts[: len(counts) - 1]])
        vector = np.zeros(rows.shape[1])
        for part in parts[len(counts) - 1 :]:
            vector[int(part.split(":")[0]) - 1] = float(part.split(":")[1])
        vectors.append(vector)
    support, alpha = np.array(vectors), np.array(coefficients)
    gamma = float(entries.get("gamma", ["0"])[0])
    coef0 = float(entries.get("coef0", ["0"])[0])
    K = {
        "linear": lambda: rows @ support.T,
        "rbf": lambda: np.exp(-gamma * ((rows[:, None] - support[None]) ** 2).sum(axis=2)),
        "polynomial": lambda: (gamma * rows @ support.T + coef0) ** int(entries["degree"][0]),
        "sigmoid": lambda: np.tanh(gamma * rows @ support.T + coef0),
    }[entries["kernel_type"][0]]()
    starts = np.concatenate(([0], np.cumsum(counts)))
    columns, number = [], 0
    for i in range(len(counts)):
        for j in range(i + 1, len(counts)):
            first, second = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
            values = K[:, first] @ alpha[first, j - 1] + K[:, second] @ alpha[second, i]
            columns.append(values - float(entries["rho"][number]))
            number += 1
    return [int(label) for label in entries["label"]], np.stack(columns, axis=1)


class TestToLibsvm:
    @BY_NAME
    @pytest.mark.parametrize("targets", [Y, TWO], ids=["three", "two"])
    def test_predicted_alike_by_svm_predict(self, shape: dict[str, Any], targets: Any, tmp_path: Path) -> None:
        model = SVC(C=3.0, psd="ignore", **shape).fit(X, targets)
        to_libsvm(model, tmp_path / "model")
        np.testing.assert_array_equal(
            predicted_by_libsvm(tmp_path / "model", NEW, tmp_path), model.predict(NEW).astype(float)
        )

    @BY_NAME
    def test_decisions_by_the_book(self, shape: dict[str, Any], tmp_path: Path) -> None:
        model = SVC(decision_function_shape="ovo", psd="ignore", **shape).fit(X, Y)
        to_libsvm(model, tmp_path / "model")
        labels, decisions = decisions_by_the_book(tmp_path / "model", NEW)
        assert labels == [0, 1, 2]
        np.testing.assert_allclose(decisions, model.decision_function(NEW), rtol=1e-10, atol=1e-10)

    def test_sparse_rows(self, tmp_path: Path) -> None:
        model = SVC(gamma=0.3).fit(sp.csr_array(X), Y)
        to_libsvm(model, tmp_path / "model")
        found = predicted_by_libsvm(tmp_path / "model", NEW, tmp_path)
        np.testing.assert_array_equal(found, model.predict(sp.csr_array(NEW)).astype(float))

    def test_precomputed(self, tmp_path: Path) -> None:
        model = SVC(kernel="precomputed", psd="ignore").fit(X @ X.T, Y)
        to_libsvm(model, tmp_path / "model")
        rows = NEW @ X.T
        numbered = np.column_stack([np.arange(1, len(rows) + 1), rows])
        lines = [" ".join(["0", *(f"{i}:{value!r}" for i, value in enumerate(row.tolist()))]) for row in numbered]
        (tmp_path / "rows").write_text("\n".join(lines) + "\n")
        command = [tool("svm-predict"), "-q", tmp_path / "rows", tmp_path / "model", tmp_path / "out"]
        subprocess.run(command, check=True, timeout=60)
        np.testing.assert_array_equal(np.loadtxt(tmp_path / "out"), model.predict(rows).astype(float))

    @pytest.mark.parametrize(
        ("kernel", "labels", "message"),
        [
            (kernels.Laplacian(0.5), Y, "laplacian"),
            (kernels.RBF(gamma=(1.0,) * 5), Y, "rbf"),
            (kernels.RBF(0.1) + kernels.Linear(), Y, "rbf"),
            (kernels.Linear(), np.array(["a", "b", "c"])[Y], "whole numbers"),
            (kernels.Linear(), Y + 0.5, "whole numbers"),
        ],
    )
    def test_what_libsvm_cannot_hold(self, kernel: Any, labels: Any, message: str, tmp_path: Path) -> None:
        model = SVC(kernel=kernel)
        model.fit(X, labels.astype(str) if message == "whole numbers" else labels)
        with pytest.raises(InputError, match=message):
            to_libsvm(model, tmp_path / "model")
        assert list(tmp_path.iterdir()) == []


class TestFromLibsvm:
    @BY_NAME
    @pytest.mark.parametrize("targets", [Y[::-1], TWO[::-1]], ids=["three", "two"])
    def test_trained_by_svm_train(self, shape: dict[str, Any], targets: Any, tmp_path: Path) -> None:
        """Reversed, so that the labels come in another order than sorted."""
        dump_svmlight_file(X, targets, str(tmp_path / "train"), zero_based=False)
        number = {"linear": 0, "poly": 1, "rbf": 2, "sigmoid": 3}[shape["kernel"]]
        options = ["-q", "-t", number, "-g", shape.get("gamma", 0), "-r", shape.get("coef0", 0), "-c", 2]
        options += ["-d", shape.get("degree", 3), tmp_path / "train", tmp_path / "model"]
        subprocess.run([tool("svm-train"), *map(str, options)], check=True, timeout=60)
        model = from_libsvm(tmp_path / "model", n_features=5)
        wanted = predicted_by_libsvm(tmp_path / "model", NEW, tmp_path)
        np.testing.assert_array_equal(model.predict(NEW), wanted)
        labels, decisions = decisions_by_the_book(tmp_path / "model", NEW)
        ours = model.set_params(decision_function_shape="ovo").decision_function(NEW)
        if len(labels) == 2:
            sign = 1.0 if labels[0] > labels[1] else -1.0
            np.testing.assert_allclose(ours, sign * decisions[:, 0], rtol=1e-9, atol=1e-9)
        else:
            for column, (a, b) in enumerate([(0, 1), (0, 2), (1, 2)]):
                places = [labels.index(a), labels.index(b)]
                pair = [(0, 1), (0, 2), (1, 2)].index((min(places), max(places)))
                sign = 1.0 if places[0] < places[1] else -1.0
                np.testing.assert_allclose(ours[:, column], sign * decisions[:, pair], rtol=1e-9, atol=1e-9)

    @BY_NAME
    @pytest.mark.parametrize("targets", [Y, TWO], ids=["three", "two"])
    def test_there_and_back(self, shape: dict[str, Any], targets: Any, tmp_path: Path) -> None:
        model = SVC(psd="ignore", **shape).fit(X, targets)
        to_libsvm(model, tmp_path / "model")
        twin = from_libsvm(tmp_path / "model", n_features=5)
        np.testing.assert_array_equal(twin.classes_, model.classes_)
        np.testing.assert_allclose(twin.decision_function(NEW), model.decision_function(NEW), rtol=1e-12, atol=1e-12)
        mercer.save(twin, tmp_path / "saved")
        np.testing.assert_array_equal(mercer.load(tmp_path / "saved").predict(NEW), model.predict(NEW))

    def test_precomputed_and_sparse(self, tmp_path: Path) -> None:
        model = SVC(kernel="precomputed", psd="ignore").fit(X @ X.T, Y)
        to_libsvm(model, tmp_path / "model")
        twin = from_libsvm(tmp_path / "model", n_features=len(X))
        np.testing.assert_allclose(twin.decision_function(NEW @ X.T), model.decision_function(NEW @ X.T), atol=1e-12)
        plain = SVC(gamma=0.3).fit(X, Y)
        to_libsvm(plain, tmp_path / "plain")
        twin = from_libsvm(tmp_path / "plain", n_features=5, sparse=True)
        assert sp.issparse(twin.support_vectors_)
        np.testing.assert_allclose(twin.decision_function(NEW), plain.decision_function(NEW), atol=1e-12)

    GOOD = "svm_type c_svc\nkernel_type rbf\ngamma 0.5\nnr_class 2\ntotal_sv 2\nrho 0.1\nlabel 1 -1\nnr_sv 1 1\nSV\n"
    ROWS = "1 1:0.5 3:1\n-1 2:2\n"
    PRECOMPUTED = GOOD.replace("rbf\ngamma 0.5", "precomputed")

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "'SV'"),
            ("hello\n", "header"),
            (GOOD, "cut off"),
            (GOOD + "1 1:0.5\n", "cut off"),
            (GOOD + ROWS + "1 1:1\n", "line 12"),
            (GOOD + "1 1:0.5 1:1\n-1 2:2\n", "line 10.*ascend"),
            (GOOD + "1 0:0.5\n-1 2:2\n", "from 1 on"),
            (GOOD + "1 1:nan\n-1 2:2\n", "finite"),
            (GOOD + "x 1:1\n-1 2:2\n", "finite"),
            (GOOD + "1 99999999999:1\n-1 2:2\n", "feature"),
            (GOOD + "1 1\n-1 2:2\n", "feature"),
            (GOOD.replace("c_svc", "nu_svr") + ROWS, "nu_svr"),
            (GOOD.replace("rbf", "magic") + ROWS, "magic"),
            (GOOD.replace("gamma 0.5\n", "") + ROWS, "gamma"),
            (GOOD.replace("gamma 0.5", "gamma -0.5") + ROWS, "gamma"),
            (GOOD.replace("nr_class 2", "nr_class 9999999") + ROWS, "label"),
            (GOOD.replace("total_sv 2", "total_sv 3") + ROWS, "total_sv"),
            (GOOD.replace("nr_sv 1 1", "nr_sv 3 -1") + ROWS, "nr_sv"),
            (PRECOMPUTED + "1 0:0\n-1 0:2\n", "numbers from 1 on"),
            (PRECOMPUTED + "1 0:1.5\n-1 0:2\n", "numbers from 1 on"),
            (PRECOMPUTED + "1 1:1\n-1 0:2\n", "numbers from 1 on"),
            (GOOD.replace("label 1 -1", "label 1 1") + ROWS, "different"),
            (GOOD.replace("rho 0.1", "rho 0.1 0.2") + ROWS, "rho"),
            (GOOD.replace("svm_type c_svc\n", "svm_type c_svc\nsvm_type c_svc\n") + ROWS, "twice"),
            ("\xff\xfe" + GOOD, "ASCII"),
        ],
    )
    def test_damaged_files(self, text: str, message: str, tmp_path: Path) -> None:
        (tmp_path / "model").write_bytes(text.encode("latin-1"))
        with pytest.raises(ModelFileError, match=f"(?s)model.*{message}"):
            from_libsvm(tmp_path / "model")

    def test_rows_of_a_precomputed_kernel_count_from_one(self, tmp_path: Path) -> None:
        (tmp_path / "model").write_text(self.PRECOMPUTED + "1 0:1\n-1 0:3\n")
        assert from_libsvm(tmp_path / "model").support_.tolist() == [2, 0]  # that of the class -1 first

    def test_good_file_and_missing_one(self, tmp_path: Path) -> None:
        (tmp_path / "model").write_text(self.GOOD + self.ROWS)
        assert from_libsvm(tmp_path / "model").predict([[0.5, 0.0, 1.0], [0.0, 2.0, 0.0]]).tolist() == [1, -1]
        with pytest.raises(ModelFileError, match="No such file"):
            from_libsvm(tmp_path / "nothing")
        with pytest.raises(ModelFileError, match="n_features"):
            from_libsvm(tmp_path / "model", n_features=2)

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_changed_bytes_are_answered(self, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory) -> None:
        content = bytearray((self.GOOD + self.ROWS).encode())
        for _ in range(data.draw(st.integers(1, 4))):
            content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 127))
        path = tmp_path_factory.mktemp("fuzz") / "model"
        path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))]))
        try:
            model = from_libsvm(path)
        except ModelFileError:
            return
        assert model.n_features_in_ >= 1


class TestFromScikitLearn:
    @BY_NAME
    @pytest.mark.parametrize("labels", [Y, TWO, np.array(["x", "a", "m"])[Y]], ids=["three", "two", "text"])
    def test_decides_alike(self, shape: dict[str, Any], labels: Any, tmp_path: Path) -> None:
        theirs = sklearn.svm.SVC(C=2.0, class_weight="balanced", **shape).fit(X, labels)
        ours = from_sklearn(theirs)
        np.testing.assert_allclose(ours.decision_function(NEW), theirs.decision_function(NEW), rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(ours.predict(NEW), theirs.predict(NEW))
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        mercer.save(ours, tmp_path / "saved")
        np.testing.assert_array_equal(mercer.load(tmp_path / "saved").predict(NEW), theirs.predict(NEW))

    def test_scale_sparse_and_precomputed(self) -> None:
        theirs = sklearn.svm.SVC(decision_function_shape="ovo").fit(sp.csr_matrix(X), Y)
        ours = from_sklearn(theirs)
        np.testing.assert_allclose(ours.decision_function(NEW), theirs.decision_function(sp.csr_matrix(NEW)), atol=1e-9)
        theirs = sklearn.svm.SVC(kernel="precomputed").fit(X @ X.T, Y)
        ours = from_sklearn(theirs)
        np.testing.assert_allclose(ours.decision_function(NEW @ X.T), theirs.decision_function(NEW @ X.T), atol=1e-9)

    def test_what_cannot_be_taken_over(self) -> None:
        with pytest.raises(InputError, match="kernel"):
            from_sklearn(sklearn.svm.SVC(kernel=lambda a, b: a @ b.T).fit(X, Y))
        with pytest.raises(ValueError, match="not fitted"):
            from_sklearn(sklearn.svm.SVC())
        with pytest.raises(InputError, match="SVR"):
            from_sklearn(sklearn.svm.SVR().fit(X, Y))
