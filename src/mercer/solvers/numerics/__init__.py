"""Numerical methods that several solvers share."""
