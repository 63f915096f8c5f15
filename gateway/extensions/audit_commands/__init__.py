"""Commands that audit answers, indexes and audit logs, of all tenants."""
