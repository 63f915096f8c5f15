"""Builds shards from PostgreSQL, or maps those that another process has built."""
