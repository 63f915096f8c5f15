"""Stored documents: rows, chunks, events and the change row of each commit."""
