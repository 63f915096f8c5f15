"""Embedded servers: PostgreSQL and Valkey, where the settings name none; and a demo on them."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("starts PostgreSQL and Valkey if settings name none; a demo")
