"""The worker process: queued jobs, schedules, sweeps and RabbitMQ events."""
