"""Writes the parts of the clients that say what the API says."""
