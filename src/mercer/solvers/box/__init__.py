"""Quadratic problems over a box: the duals of support vector machines."""
