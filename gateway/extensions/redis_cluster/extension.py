"""Answers may be cached in a Redis Cluster."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("answers may be cached in a Redis Cluster")
