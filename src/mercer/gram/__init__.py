"""Gram matrices: planned in tiles, computed by threads, kept or recomputed within a memory budget."""
