"""What a database needs before it is used: extensions, roles, tables, and its restore."""
