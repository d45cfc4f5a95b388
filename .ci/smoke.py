"""Run by the continuous checks in an empty folder: the installed package works without the tree that it came from."""

import sys
from pathlib import Path

import mercer
from mercer import SVC, kernels

assert Path(mercer.__file__).is_relative_to(Path(sys.argv[1]).resolve()), mercer.__file__
assert (Path(mercer.__file__).parent / "py.typed").is_file()

words = ["banana", "bananas", "ananas", "cherry", "cherries", "sherry"]
model = SVC(kernel=kernels.Spectrum(p=2)).fit(words, [1, 1, 1, 0, 0, 0])
assert list(model.predict(["bandana", "merry"])) == [1, 0]
print("mercer", mercer.__version__, "fits strings")
