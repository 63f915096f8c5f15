"""What PostgreSQL stores of files and vector stores."""
