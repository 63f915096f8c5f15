"""Embedders of services, of model folders, and of sixteen languages."""
