"""Commands that show what is queued, stored and used, of all tenants, and how the servers are."""
