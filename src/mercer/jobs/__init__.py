"""The main job: a file in, a model out that knows how to read such files, what it learnt, and how good it is."""
