"""Summaries of documents and of their long sections, extracted or by a language model."""
