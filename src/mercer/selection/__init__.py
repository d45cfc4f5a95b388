"""Choosing kernels and parameters: comparisons and searches that share one Gram matrix."""
