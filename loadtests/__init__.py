"""Load tests and benchmarks: they use the service over HTTP and import nothing of it."""
