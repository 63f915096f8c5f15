"""The systems that are compared: each filled, started, and asked over HTTP."""
