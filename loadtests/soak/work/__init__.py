"""What the soak does: writes, reads, changes credentials, and waits for queued writes."""
