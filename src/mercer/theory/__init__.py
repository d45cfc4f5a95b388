"""What the lectures prove: margins, enclosing balls, and bounds on the error of unseen objects."""
