"""Stored sources: how each is read, from where, and what was read last."""
