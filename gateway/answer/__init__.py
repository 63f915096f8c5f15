"""`POST /v1/answer`: answers that a language model writes from the hits of a search."""
