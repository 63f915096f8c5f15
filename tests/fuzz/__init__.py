"""Requests made up from the API's own description, hostile HTTP, and odd files."""
