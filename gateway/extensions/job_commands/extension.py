"""Jobs: commands list, replay and delete those of all tenants."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("commands list, replay and delete the jobs of all tenants")
