"""Sources that a worker reads, and the command that reads paths."""
