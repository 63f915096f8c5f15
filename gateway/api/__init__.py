"""The HTTP API: its table of routes and the application built from it."""
