"""The features of kernels, written down: counts, coordinates, their names and their matrices."""
