"""Ingestion: what changed since last time, and only that."""
