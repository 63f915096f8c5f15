"""The calls that set budgets and quotas of tenants."""
