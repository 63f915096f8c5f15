"""What the settings name, of the core or of extensions: embedders, a reranker, servers, …"""
