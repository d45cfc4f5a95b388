"""Smooth losses on a Gram matrix."""
