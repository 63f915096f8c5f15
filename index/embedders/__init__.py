"""Embedders, and the migration of a tenant from one to another."""
