"""Kernel values that are kept on disk."""
