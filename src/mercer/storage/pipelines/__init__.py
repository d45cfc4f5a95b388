"""Model files of scikit-learn's pipelines, and of the transformers that are common in them."""
