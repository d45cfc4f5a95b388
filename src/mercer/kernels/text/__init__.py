"""Kernels as text: expressions, LaTeX, and the proof that they are positive semi-definite."""
