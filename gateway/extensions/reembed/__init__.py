"""Vectors anew: of another embedder, and those that texts lack; commands and a job."""
