"""Formats of files beside text: what a file shows becomes Markdown."""
