"""The words that a tenant's documents have: stored, in memory, and near to a misspelt one."""
