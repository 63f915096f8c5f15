"""Calls and commands that show tenants, and decide what their callers may choose."""
