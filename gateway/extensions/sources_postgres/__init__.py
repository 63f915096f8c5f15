"""Sources that follow tables and views of other PostgreSQL servers."""
