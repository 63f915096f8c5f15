"""Tenants at rest: principals, groups, usage and settings of a tenant."""
