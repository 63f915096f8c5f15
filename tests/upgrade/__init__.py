"""A recorded index with its answers, and a schema that a next version might have."""
