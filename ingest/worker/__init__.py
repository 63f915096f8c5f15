"""The worker's loop over queued jobs."""
