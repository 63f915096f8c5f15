"""Commands of the operator: tenants, keys, jobs, caches, audits and load tests."""
