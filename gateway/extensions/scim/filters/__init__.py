"""How SCIM's filters and paths are read, and what they mean."""
