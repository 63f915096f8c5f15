"""The load generator: schedules, HTTP connections, and the recording of latencies."""
