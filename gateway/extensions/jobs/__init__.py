"""Calls and commands that list, replay and delete jobs, and tell how far the index is behind."""
