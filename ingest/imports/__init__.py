"""Collections of other systems, read record by record."""
