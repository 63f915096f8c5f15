"""Commands that check settings and servers, and bring the schema to this version."""
