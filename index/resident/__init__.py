"""Shards: partitions whose vectors and terms live in memory, so that a search scans no table."""
