"""When the index of each tenant is audited, and what the last audit found; several use it."""
