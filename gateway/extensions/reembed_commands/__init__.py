"""Commands that embed what tenants store: with another embedder, or where a vector is missing."""
