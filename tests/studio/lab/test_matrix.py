"""Gram matrices from files: what they are, and what the page draws of them."""

import numpy as np
import pytest

from mercer.studio.lab.matrix import gram_file
from mercer.studio.playground.packing import unpacked
from mercer.studio.refusal import Refusal


def test_a_gram_file(tmp_path):
    path = tmp_path / "gram.csv"
    path.write_text(",a,b\na,1,0.5\nb,0.5,1\n")
    assert gram_file({"path": str(path)})["verdict"] == "psd"
    path.write_text(",a,b\na,1,2\nb,2,1\n")
    told = gram_file({"path": str(path)})
    assert (told["verdict"], told["smallest"]) == ("indefinite", pytest.approx(-1.0))
    path.write_text("nonsense")
    with pytest.raises(Refusal):
        gram_file({"path": str(path)})


def test_the_picture_is_the_matrix_in_another_order(tmp_path):
    path, rng = tmp_path / "gram.npz", np.random.default_rng(0)
    points = rng.normal(size=(30, 3))
    K = points @ points.T
    np.savez(path, K=K, y=np.arange(30) % 2)
    told = gram_file({"path": str(path)})
    order = told["gram"]["order"]
    assert sorted(order) == list(range(30))
    np.testing.assert_allclose(unpacked(told["gram"]["values"]), K[np.ix_(order, order)], rtol=1e-6)
    assert [row % 2 for row in order] == told["gram"]["classes"]
    np.testing.assert_allclose(told["spectrum"], np.linalg.eigvalsh(K)[::-1], atol=1e-9)


def test_many_objects_are_drawn_in_part(tmp_path):
    path = tmp_path / "gram.npz"
    np.savez(path, K=np.eye(500), y=np.arange(500) % 7)
    told = gram_file({"path": str(path)})
    assert told["gram"]["values"]["shape"] == [240, 240]
    assert set(told["gram"]["classes"]) == {0}
    assert len(told["spectrum"]) == 40


def test_what_is_not_square_is_not_drawn(tmp_path):
    path = tmp_path / "gram.npz"
    np.savez(path, K=np.ones((3, 2)))
    told = gram_file({"path": str(path)})
    assert (told["verdict"], told["gram"], told["spectrum"]) == ("not square", None, [])
