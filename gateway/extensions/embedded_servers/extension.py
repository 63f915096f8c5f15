"""Embedded servers: PostgreSQL and Valkey, where the settings name none; and a demo on them."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension(
    "PostgreSQL and Valkey are started where the settings name none; a demo shows searches"
)
