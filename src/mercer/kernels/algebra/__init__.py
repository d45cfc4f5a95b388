"""Kernels made of kernels: sums, products, functions, normalised and centred forms, columns of tables."""
