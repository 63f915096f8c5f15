"""Locust users that behave like agents and writers: `make load`."""
