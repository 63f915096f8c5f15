"""Query rewriting, query gates, reranking and contexts of hits; loaded at first use."""
