"""PostgreSQL: connections, statements, migrations and the search role."""
