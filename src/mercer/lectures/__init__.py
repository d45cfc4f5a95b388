"""The algorithms of the lectures, with their estimators and the traces that they leave."""
