"""Searches: a command shows the hits of a principal, directly from the index."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("a command shows the hits of a principal without a gateway")
