"""Compiled loops that kernels of several domains share."""
