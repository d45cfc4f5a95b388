"""Kernels on rows of numbers, one per file."""
