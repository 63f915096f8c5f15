"""The tasks of the soak: write, read, change credentials, wait for queued writes."""
