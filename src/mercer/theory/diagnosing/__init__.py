"""The parts of a diagnosis: one file for each thing that is looked at."""
