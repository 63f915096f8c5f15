"""What stands around a search: query rewriting, gates, reranking, context; loaded on first use."""
