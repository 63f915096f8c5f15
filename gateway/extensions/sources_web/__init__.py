"""Web pages of a host, as a source that the worker reads."""
