"""Many documents in one request, one per line."""
