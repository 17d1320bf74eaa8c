"""Search in all conversations of all runs, and the history of a case: what is indexed, and what is found."""
