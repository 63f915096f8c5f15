"""Tenants in PostgreSQL: their principals, groups, usage and settings."""
