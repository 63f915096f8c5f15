"""Configured sources over HTTP, how they are read, and the jobs that read them."""
