"""Stored files, and sources that were created as vector stores."""
