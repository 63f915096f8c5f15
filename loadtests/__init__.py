"""Load tests and benchmarks: a black box over HTTP, importing nothing of the service."""
