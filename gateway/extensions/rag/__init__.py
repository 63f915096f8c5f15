"""Query rewriting, query gates, reranking and contexts of hits; most is loaded at first use."""
