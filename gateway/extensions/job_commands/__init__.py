"""Commands that list, replay and delete the jobs of all tenants."""
