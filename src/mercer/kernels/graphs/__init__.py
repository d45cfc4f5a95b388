"""Kernels on graphs, and on the nodes of one graph."""
