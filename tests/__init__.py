"""The tests; a package, so that another `tests` on the path cannot take its name."""
