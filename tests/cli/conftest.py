"""The files that the commands are tried on, and a model that was made from them."""

import numpy as np
import pytest

import mercer
from mercer.cli import app
from mercer.datasets import make_dna
from mercer.storage.libsvm import to_libsvm


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the examples speak of."""
    place = tmp_path_factory.mktemp("files")
    rows = [(3 + (number * 37 % 50) / 10, number % 3, number) for number in range(60)]
    lines = [
        f"p{n},{mass + 10 * (n % 2)},{('black', 'red', 'white')[c]},{('cat', 'dog')[n % 2]}" for mass, c, n in rows
    ]
    (place / "pets.csv").write_text("id,mass,colour,pet\n" + "\n".join(lines) + "\n")
    (place / "new.csv").write_text("id,mass,colour\nx,5,black\ny,16,red\nz,9999,black\n")
    sequences, labels = make_dna(60, random_state=0)
    records = [
        f">s{n} label={label}\n{sequence}\n" for n, (sequence, label) in enumerate(zip(sequences, labels, strict=True))
    ]
    (place / "sequences.fa").write_text("".join(records))
    X = np.array([[0.0, 0.1], [0.2, 0.0], [1.0, 1.1], [1.2, 0.9]])
    to_libsvm(mercer.SVC(kernel="linear").fit(X, [0, 0, 1, 1]), place / "svm.model")
    return place


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def model(here, capsys):
    if not (here / "model.mercer").exists():
        assert app.run(["fit", "pets.csv", "--target", "pet", "--quiet", "--folds", "3", "--C", "1"]) == 0
    capsys.readouterr()
    return here / "model.mercer"
