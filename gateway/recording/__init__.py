"""What the gateway records as it serves requests: buffered, and stored in batches."""
