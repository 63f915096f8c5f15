"""The gateway: authentication, the HTTP API, commands and workers."""
