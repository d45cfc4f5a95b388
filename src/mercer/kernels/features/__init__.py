"""Explicit features of kernels: counts, coordinates, their names and their matrices."""
