"""A reading: what it writes and removes, how much it may remove, and what it comes to."""
