"""Chunks and summarises documents with a language model before they are planned."""
