"""Data larger than memory: sources of blocks, which every learner with few features accepts instead of X and y.

    from mercer import KernelRidge, blocks, kernels

    data = blocks.of("rows.npy", "targets.npy")               # or Parquet, or a folder of blocks training, test =
    blocks.split(data, held_out=0.1) with blocks.checkpoint("run"):                              # resumes from there if
    it was killed
        model = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(), m=500)).fit(training)

Anything else (CSV, svmlight, FASTA, JSON lines, generators) is converted once: ``blocks.convert("big.csv", "folder")``.
"""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
