"""Kernels made of probability models."""
