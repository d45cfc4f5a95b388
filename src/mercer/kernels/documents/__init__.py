"""Kernels on documents; scikit-learn reads the text."""
