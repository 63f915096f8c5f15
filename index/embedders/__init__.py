"""Texts as vectors: the embedders, and a tenant's move from one to another."""
