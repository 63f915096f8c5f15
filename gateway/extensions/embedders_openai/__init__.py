"""The embedder `openai:MODEL`."""
