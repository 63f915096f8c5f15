"""Audits: commands recompute answers and indexes, and list and verify the audit logs."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("commands audit answers and indexes, and verify audit logs")
