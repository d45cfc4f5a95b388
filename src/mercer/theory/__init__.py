"""The theory of the lectures: margins, enclosing balls, and bounds on the error on unseen objects."""
