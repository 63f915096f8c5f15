"""The worker process: queued jobs, schedules and sweeps."""
