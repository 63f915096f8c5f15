"""The values of the index: documents, scopes, queries and filters; no I/O."""
