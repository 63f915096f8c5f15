"""Reading sources: a command reads folders, files and repositories, and follows a folder."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension(
    "a command reads folders, files and repositories into a tenant, and follows a folder"
)
