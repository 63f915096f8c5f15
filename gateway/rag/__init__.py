"""Query rewriting, query gates, reranking, contexts and generated answers; loaded at first use."""
