"""Setup: commands check settings and servers, and migrate the schema."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension(
    "commands check settings and servers, and migrate the schema"
)
