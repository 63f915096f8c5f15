"""Status: commands show what is queued, stored and used, of all tenants."""

from gateway.extension import Extension

EXTENSION: Extension[None] = Extension("commands show the state of tenants and of the servers")
