"""Commands that create, list, rotate and revoke the keys of all tenants."""
