"""Tenants: commands create, list and delete them, and end what is cached."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("commands create and delete tenants, and clear caches")
