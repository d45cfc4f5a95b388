"""Which kernels are tried on which objects, and on how many of them."""

import numpy as np
import pytest

from mercer.datasets import make_dna
from mercer.errors import InputError
from mercer.inputs.strings import Strings
from mercer.jobs.candidates import alphabet_of, candidates, on_strings, short_text
from mercer.jobs.fitting import fit
from mercer.jobs.preparation import Preparation
from mercer.jobs.problem import Plan, Problem
from mercer.jobs.search import search
from mercer.jobs.sizing import search_size
from mercer.readers.data import Data
from mercer.selection.learner import Learner
from tests.jobs.tables import table


def test_the_size_of_a_search_follows_from_its_cost():
    def size(n_kernels, learner, width=4, **more):
        random = np.random.default_rng(0)
        columns = {f"c{number}": random.normal(size=50).tolist() for number in range(width)}
        data = table(np.arange(50.0), **columns)
        prepared = Preparation.learn(data, scale=True, impute=False)
        options = {"kernels": n_kernels, "fits": 20 * n_kernels, "learner": learner, "time_limit": None, **more}
        return search_size(data, prepared(data), **options)

    classify, regress = (Learner.for_task(task, np.zeros(2)) for task in ("classification", "regression"))
    assert size(1, classify) > size(6, classify) > 2000
    assert size(1, regress) > size(6, regress) > 2000
    assert size(6, classify, time_limit=1.0) == 2000
    assert size(6, classify, width=8000) < size(6, classify)
    assert size(1, classify, fits=1) == 20_000
    short, long = (Strings.coerce(["ab" * length] * 3) for length in (10, 500))
    given = {"kernels": 1, "fits": 20, "learner": classify, "time_limit": None}
    sizes = [search_size(Data("s", "text", "strings", [], None), strings, **given) for strings in (short, long)]
    assert sizes[0] > sizes[1] >= 2000


def test_sequences_with_a_few_ambiguous_letters_are_still_dna():
    sequences, _ = make_dna(30, random_state=0)
    plain = Strings.coerce(sequences)
    marked = Strings.coerce(["RYN" + sequences[0][3:], "SDK" + sequences[1][3:], *sequences[2:]])
    assert alphabet_of(plain) == alphabet_of(marked) == "ACGT"
    assert [str(kernel) for kernel in on_strings(plain)] == [str(kernel) for kernel in on_strings(marked)]
    assert alphabet_of(Strings.coerce(["ACGU", "AAGU"])) == "ACGU"
    words = Strings.coerce(["attack at dawn, or never", "nothing to see, go home!"])
    assert len(alphabet_of(words)) > 6
    assert "weighted_degree" in str(on_strings(words)[-1])  # one length: positions may matter
    assert "weighted_degree" not in str(on_strings(Strings.coerce(["some words", "and some more words"])))


def test_documents_are_compared_by_their_words():
    texts = Strings.coerce(["the cat sat on the mat", "a dog barked at the cat", "stocks fell again on monday"])
    assert any("vector_space" in str(kernel) for kernel in candidates(texts, Preparation("strings")))
    sequences = Strings.coerce(["MKVLAAGIVG", "MKKLLPTAAA", "GGLIVRRSTQ"])
    assert not any("vector_space" in str(kernel) for kernel in candidates(sequences, Preparation("strings")))


def test_kernels_are_lifted_or_refused(cancer):
    prepared = Preparation.learn(cancer, scale=True, impute=False)
    assert (
        short_text(fit(cancer, Plan(kernel="linear", C=1.0, folds=2)).search.best.kernel, prepared)
        == "on(4 numbers, linear())"
    )
    with pytest.raises(InputError, match="compares strings"):
        fit(cancer, Plan(kernel="spectrum(p=2)"))


def test_search_skips_what_does_not_suit():
    from mercer.kernels import Mismatch, Spectrum

    strings = Strings.coerce(["abab", "baba", "aabb", "bbaa", "abba", "baab"])
    y = np.array([0, 1, 0, 1, 0, 1])
    data, learner = Data("s.fa", "fasta", "strings", [], y), Learner.for_task("classification", y)
    kernels = (Mismatch("CG", p=2, m=1), Spectrum(p=2))
    found = search(Problem(data, learner, y, Preparation("strings"), strings, kernels, Plan(folds=2), ()))
    assert len(found.skipped) == 1
    assert {str(trial.kernel) for trial in found.trials} == {"spectrum(p=2)"}
