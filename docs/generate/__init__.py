"""Writes the reference pages from the code, and `llms.txt` beside the built site."""
