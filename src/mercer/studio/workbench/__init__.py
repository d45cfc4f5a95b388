"""From a file to a model, in the browser: what the workbench computes."""
