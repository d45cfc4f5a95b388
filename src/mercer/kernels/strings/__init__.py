"""Kernels on strings, one per file."""
