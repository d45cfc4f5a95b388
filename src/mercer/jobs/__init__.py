"""The main job: from a file to a model that knows how to read such files, what it learnt, and how good it is."""
