"""Keys: commands create, list, rotate and revoke those of all tenants."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("commands create, rotate and revoke the keys of all tenants")
