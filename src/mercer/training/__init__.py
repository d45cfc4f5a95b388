"""What estimators call to train, certify, explain and store a machine."""
