"""Solvers: one per file, all driven in bounded chunks by `drive`."""
