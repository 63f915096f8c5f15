"""A command that shows the hits of a principal, directly from the index."""
