"""scikit-learn estimators, one per file."""
