"""Small data sets for the demo, the docs and the tests: real ones by name, generated ones by a seed."""

from __future__ import annotations

from mercer.datasets.dna import make_dna as make_dna
from mercer.datasets.graphs import make_graphs as make_graphs
from mercer.datasets.mixed import make_mixed as make_mixed
from mercer.datasets.real import load as load
