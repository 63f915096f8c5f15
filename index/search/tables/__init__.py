"""The search in the tables of PostgreSQL: its passes, and what is read in their snapshot."""
