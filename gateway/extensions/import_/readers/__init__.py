"""What reads the records of another store: Qdrant, Chroma, a table of PostgreSQL, a file."""
