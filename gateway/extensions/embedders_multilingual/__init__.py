"""The embedder `multilingual`."""
