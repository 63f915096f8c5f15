"""Nearhit beside others with the same passages, vectors, questions and rights, in turns."""
