"""Rerankers of services, of language models, and on this machine."""
