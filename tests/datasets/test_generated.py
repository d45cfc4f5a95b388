"""The generated sets: reproducible, and as hard as their documentation says."""

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from mercer import SVC, datasets, kernels
from mercer.datasets.dna import MOTIFS
from mercer.datasets.mixed import NUMBERS, SITES
from mercer.errors import ParameterError
from mercer.inputs.tables import Table


def test_public_names() -> None:
    assert datasets.__all__ == dir(datasets) == ["load", "make_dna", "make_graphs", "make_mixed"]
    with pytest.raises(AttributeError, match="make_dnb"):
        datasets.__getattr__("make_dnb")


def test_dna_is_reproducible_and_balanced() -> None:
    sequences, labels = datasets.make_dna(50, random_state=4)
    again, same = datasets.make_dna(50, random_state=4)
    assert sequences == again
    assert (labels == same).all()
    assert datasets.make_dna(50, random_state=5)[0] != sequences
    assert (labels == "promoter").sum() == 25
    assert all(set(sequence) <= set("ACGT") for sequence in sequences)


def test_dna_has_every_length_from_40_to_80() -> None:
    assert {len(sequence) for sequence in datasets.make_dna(1000)[0]} == set(range(40, 81))


def test_motifs_differ_in_order_alone() -> None:
    assert sorted("".join(MOTIFS["promoter"])) == sorted("".join(MOTIFS["decoy"]))
    assert sorted(SITES[0]) == sorted(SITES[1])


def test_motifs_are_whole_without_mutation() -> None:
    for sequence, label in zip(*datasets.make_dna(40, mutation=0.0), strict=True):
        assert all(motif in sequence for motif in MOTIFS[label])


def test_every_base_of_a_motif_can_mutate() -> None:
    sequences, labels = datasets.make_dna(200, mutation=1.0)
    whole = sum(MOTIFS[label][0] in sequence for sequence, label in zip(sequences, labels, strict=True))
    assert whole <= 4


@pytest.mark.parametrize(
    "bad", [{"n": 1}, {"n": 2.5}, {"mutation": 1.5}, {"mutation": float("nan")}, {"random_state": -1}]
)
def test_bad_parameters(bad: dict[str, float]) -> None:
    with pytest.raises(ParameterError, match=f"'{next(iter(bad))}' parameter of make_dna"):
        datasets.make_dna(**bad)  # type: ignore[arg-type]


def test_mixed_is_reproducible() -> None:
    table, labels = datasets.make_mixed(60, random_state=2)
    again, same = datasets.make_mixed(60, random_state=2)
    assert table["sequence"] == again["sequence"]
    for name in NUMBERS:
        np.testing.assert_array_equal(table[name], again[name])
    assert (labels == same).all()
    assert set(labels) == {"binds", "free"}
    with pytest.raises(ParameterError, match="'n' parameter of make_mixed"):
        datasets.make_mixed(0)


def test_mixed_binds_where_conditions_are_best() -> None:
    table, labels = datasets.make_mixed(600)
    radius = np.hypot(table["warmth"], table["acidity"])
    binds = labels == "binds"
    assert binds[radius < 0.8].mean() > 0.9
    assert binds[radius > 2.4].mean() < 0.1


def accuracy(kernel: kernels.Kernel, table: Table, labels: np.ndarray, C: float = 1.0) -> float:
    return float(cross_val_score(SVC(kernel=kernel, C=C), table, labels, cv=3).mean())


def test_neither_part_of_the_mixed_table_suffices() -> None:
    raw, labels = datasets.make_mixed(600)
    table = Table(raw)
    sequence = kernels.on("sequence", kernels.normalise(kernels.Spectrum(p=5)))
    numbers = kernels.on(NUMBERS, kernels.RBF())
    together = accuracy(sequence + numbers, table, labels)
    assert together > 0.88
    assert together > accuracy(sequence, table, labels) + 0.08
    assert together > accuracy(numbers, table, labels) + 0.08


def test_counting_bases_does_not_tell_the_dna_apart_but_substrings_do() -> None:
    sequences, labels = datasets.make_dna(600)
    objects = np.array(sequences, dtype=object)
    bases = cross_val_score(SVC(kernel=kernels.Spectrum(p=1), C=0.01), objects, labels, cv=3).mean()
    words = cross_val_score(SVC(kernel=kernels.normalise(kernels.Spectrum(p=5)), C=10.0), objects, labels, cv=3).mean()
    assert bases < 0.6
    assert words > 0.85


def test_load() -> None:
    X, y = datasets.load("breast_cancer")
    assert X.shape == (569, 30)
    assert set(y) == {0, 1}
    with pytest.raises(ParameterError, match="Did you mean 'digits'"):
        datasets.load("digit")
