"""What a process tells its operator: logs, and metrics for Prometheus."""
