"""What several extensions use for lines of a body, and batches of documents or of searches."""
