"""Machines trained on the weights of explicit features."""
