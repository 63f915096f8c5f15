"""Authentication: from a key, token or web token to a principal."""
