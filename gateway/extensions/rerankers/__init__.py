"""Rerankers of services and of language models."""
