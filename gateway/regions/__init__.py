"""Regions: what a gateway far from the primary answers from, and what its writes wait for."""
