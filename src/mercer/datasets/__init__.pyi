from mercer.datasets.dna import make_dna as make_dna
from mercer.datasets.graphs import make_graphs as make_graphs
from mercer.datasets.mixed import make_mixed as make_mixed
from mercer.datasets.real import load as load
