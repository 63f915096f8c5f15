"""Administration over HTTP: tenants, groups, keys, jobs, usage and the audit log."""
