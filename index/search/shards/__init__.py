"""The search in shards: they propose in memory, and PostgreSQL confirms."""
