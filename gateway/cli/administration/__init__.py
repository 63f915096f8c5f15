"""Commands of the operator: tenants, keys, embedders, caches, extensions and the schema."""
