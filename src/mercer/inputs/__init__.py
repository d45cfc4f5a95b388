"""Objects of every kind: parsed and validated once, then trusted, immutable and sliceable."""
