"""Readers of file formats: each module turns the content of a file into Markdown."""
