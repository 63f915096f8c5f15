"""What the relation tuples of OpenFGA say about a tenant, in PostgreSQL."""
