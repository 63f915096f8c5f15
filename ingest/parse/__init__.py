"""Markdown: the title of a text, and its blocks."""
