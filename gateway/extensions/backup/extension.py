"""Backups: commands write the database to a file, and restore it from one."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension(
    "commands write the database to a file, and restore it from one"
)
