"""Configured sources over HTTP, and the jobs that read them."""
