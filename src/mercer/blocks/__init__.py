"""Data larger than memory: sources of blocks, which every learner with few features accepts instead of X and y.

    from mercer import KernelRidge, blocks, kernels

    data = blocks.of("rows.npy", "targets.npy")               # or Parquet, or a folder of blocks
    training, test = blocks.split(data, held_out=0.1)
    with blocks.checkpoint("run"):                              # killed at any moment, it goes on from there
        model = KernelRidge(kernel=kernels.Nystrom(kernels.RBF(), m=500)).fit(training)

Anything else (CSV, svmlight, FASTA, JSON lines, generators) is converted once: ``blocks.convert("big.csv", "folder")``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mercer.blocks.conversion import convert as convert
    from mercer.blocks.folder import FolderBlocks as FolderBlocks
    from mercer.blocks.npy import NpyBlocks as NpyBlocks
    from mercer.blocks.opening import checkpoint as checkpoint
    from mercer.blocks.opening import of as of
    from mercer.blocks.parquet import ParquetBlocks as ParquetBlocks
    from mercer.inputs.blocks import ArrayBlocks as ArrayBlocks
    from mercer.inputs.blocks import Block as Block
    from mercer.inputs.blocks import Blocks as Blocks
    from mercer.inputs.blocks import split as split

_HOMES = {
    "ArrayBlocks": "mercer.inputs.blocks",
    "Block": "mercer.inputs.blocks",
    "Blocks": "mercer.inputs.blocks",
    "FolderBlocks": "mercer.blocks.folder",
    "NpyBlocks": "mercer.blocks.npy",
    "ParquetBlocks": "mercer.blocks.parquet",
    "checkpoint": "mercer.blocks.opening",
    "convert": "mercer.blocks.conversion",
    "of": "mercer.blocks.opening",
    "split": "mercer.inputs.blocks",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'mercer.blocks' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
