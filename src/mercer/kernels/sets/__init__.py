"""Kernels on sets and multisets."""
