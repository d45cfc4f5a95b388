"""A model behind HTTP: `mercer serve`."""
