"""What a change invalidates: entries in Redis by a drain, and answers in this process."""
