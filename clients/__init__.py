"""Clients of the API, which are packages of their own."""
