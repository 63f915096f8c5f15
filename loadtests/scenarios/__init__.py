"""Servers under a scenario of requests: a module each for a page, or for a part of one."""
