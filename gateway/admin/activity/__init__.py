"""What a tenant's callers did and used: the audit log, jobs, statistics and usage."""
