"""What the settings name: embedders, a reranker and servers, of the core or of extensions."""
