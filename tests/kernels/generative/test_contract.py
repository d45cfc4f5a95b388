"""What all kernels from probability models share: text, tables, model files, and what is refused."""

import numpy as np
import pytest

import mercer
from mercer import SVC, kernels
from mercer.errors import InputError, ParameterError
from tests.kernels.generative.models import HMM, MARKOV, PAIR, SCORES, TREE, words

GIVEN = [HMM, TREE, PAIR, MARKOV, SCORES]


@pytest.mark.parametrize("kernel", GIVEN, ids=lambda kernel: type(kernel).__name__)
def test_text_tables_and_model_files(kernel, tmp_path):
    assert kernels.parse(str(kernel)) == kernel
    rows = {"word": words(3) * 2, "number": np.arange(16.0)}
    mixed = kernels.on("word", kernels.normalise(kernel)) + kernels.on("number", kernels.RBF(gamma=0.1))
    model = SVC(kernel=mixed).fit(rows, [0, 1] * 8)
    mercer.save(model, tmp_path / "model")
    np.testing.assert_array_equal(
        mercer.load(tmp_path / "model").decision_function(rows), model.decision_function(rows)
    )


@pytest.mark.parametrize("kernel", GIVEN, ids=lambda kernel: type(kernel).__name__)
def test_unknown_symbols_are_named(kernel):
    with pytest.raises(InputError, match=r"String 1 has 'c' at position 2"):
        kernel.fit(["aab", "abc"])
    with pytest.raises(InputError, match=r"String 0 has 'x' at position 0"):
        kernel.fit(["aab"])(["xab"], ["aab"])


def test_unequal_lengths_are_named():
    with pytest.raises(InputError, match=r"one length, 2 here, but string 1 has 3 symbols \(1 such"):
        HMM.fit(["ab", "aba"])
    with pytest.raises(InputError, match=r"one length, 3 here, but string 0 has 2"):
        TREE.fit(["ab"])
    with pytest.raises(InputError, match="string 0 is empty"):
        HMM.fit([""])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HMM.with_params(transitions=((0.7, 0.3), (0.2, 0.7))), "'transitions' .* row 1 sums to 0.9"),
        (lambda: HMM.with_params(emissions=((0.9, 0.1), (1.2, -0.2))), "'emissions' .* row 1 has -0.2 at column 1"),
        (lambda: HMM.with_params(start=(0.6, 0.6)), "'start' .* it sums to 1.2"),
        (lambda: HMM.with_params(start=(1.0,)), "'transitions' .* table of 1 rows and 1 columns"),
        (lambda: HMM.with_params(alphabet="abc"), "'emissions' .* table of 2 rows and 3 columns"),
        (lambda: HMM.with_params(start=None), "'start' .* given with the rest of the model"),
        (lambda: TREE.with_params(parents=(-1, 2, 0)), "'parents' .* Number the nodes from the root downwards"),
        (lambda: TREE.with_params(observed=(1, 1)), "'observed'"),
        (lambda: MARKOV.with_params(probabilities=((0.7, 0.3), (1.0, 0.0))), "row 1 has the probability 0 at column 1"),
        (lambda: MARKOV.with_params(order=2), "table of 4 rows and 2 columns"),
        (lambda: MARKOV.with_params(alphabet=None), "'alphabet'"),
        (lambda: kernels.MarkovFisher(smoothing=0.0), "'smoothing'"),
        (lambda: kernels.MarkovFisher(order=30).fit(["ab"]), "'order'"),
        (lambda: PAIR.with_params(classes=((0.9, 0.2), (0.2, 0.8))), "'classes' .* row 0 sums to 1.1"),
        (lambda: PAIR.with_params(background=(1.0, 0.0)), "gives 'b' the probability 0"),
        (lambda: PAIR.with_params(weights=None), "'weights'"),
        (lambda: kernels.PairHMM(stop=1.0), "'stop'"),
        (lambda: PAIR.with_params(match=((0.5, 0), (0, 0.5))), "'match' .* instead of classes"),
        (lambda: kernels.PairHMM(alphabet="ab", match=((0.5, 0.2), (0.1, 0.2))), "'match' .* symmetric"),
        (lambda: kernels.PairHMM(alphabet="ab", match=((0.5, 0.2), (0.2, 0.5))), "'match' .* the sum 1.4"),
        (lambda: kernels.PairHMM(alphabet="ab", match=((0.5, 0.5),)), "'match' .* 2 x 2"),
        (lambda: kernels.PairHMM(match=((1.0,),)), "'alphabet' .* match"),
        (lambda: SCORES.with_params(emissions=((0.9, 0.2), (0.2, 0.8))), "'emissions' .* row 0 sums to 1.1"),
        (lambda: kernels.GaussianMixtureFisher(weights=(1.0,)), "'means'"),
        (
            lambda: kernels.GaussianMixtureFisher(weights=(1.0,), means=[[0.0]], covariances=[[0.0]]),
            "positive definite, but number 0 is not",
        ),
    ],
)
def test_models_that_are_none(make, message):
    with pytest.raises(ParameterError, match=message):
        make()


def test_impossible_strings_have_no_score():
    model = {"start": (1.0, 0.0), "transitions": ((0.5, 0.5), (0.0, 1.0)), "emissions": ((1.0, 0.0), (0.0, 1.0))}
    with pytest.raises(InputError, match="String 1 has the probability 0"):
        kernels.HMMFisher(alphabet="ab", **model).fit(["ab", "ba"])


def test_too_few_vectors_for_a_mixture():
    with pytest.raises(InputError, match="A mixture of 4 Gaussians needs as many vectors, got 2"):
        kernels.GaussianMixtureFisher().fit([[1.0], [2.0]])
