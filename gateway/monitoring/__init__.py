"""What a process tells its operator: metrics for Prometheus."""
