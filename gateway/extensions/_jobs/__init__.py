"""What several extensions use for their jobs."""
