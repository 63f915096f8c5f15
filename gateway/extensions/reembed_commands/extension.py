"""Re-embedding: commands move tenants to another embedder, and queue jobs for missing vectors."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension(
    "commands move tenants to another embedder, and queue jobs that embed what has no vector"
)
