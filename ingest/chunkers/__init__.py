"""Chunkers: the ways to cut a document's text into chunks."""
