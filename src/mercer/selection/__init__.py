"""Choosing among models: searches that share one Gram matrix, comparison, kernels learnt from kernels."""
