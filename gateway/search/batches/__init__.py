"""Several searches in one call, all answered at one revision."""
