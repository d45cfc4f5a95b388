"""Numbers for hashed names."""

import numpy as np

from mercer.kernels.features.vocabulary import Vocabulary


def test_vocabularies_grow_and_find_again():
    rng = np.random.default_rng(0)
    names = rng.integers(0, 5000, size=200_000).astype(np.uint64) * np.uint64(2**40)
    words = Vocabulary()
    numbers = np.concatenate([words.add(part) for part in np.array_split(names, 7)])
    assert len(words) == len(np.unique(names))
    np.testing.assert_array_equal(words.names[numbers], names)
    np.testing.assert_array_equal(words.find(names), numbers)
    assert words.find(np.array([1], dtype=np.uint64)).tolist() == [-1]
    np.testing.assert_array_equal(Vocabulary.of(words.names).find(names), numbers)
