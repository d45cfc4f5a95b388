"""The parts of a diagnosis: one file for each aspect that is examined."""
