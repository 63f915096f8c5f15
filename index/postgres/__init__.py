"""PostgreSQL: connections, statements, migrations and the role that serves searches."""
