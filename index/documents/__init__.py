"""Stored documents: rows, chunks, files, sources and the change row of each commit."""
