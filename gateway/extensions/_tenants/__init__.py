"""What several extensions use of tenants: who may name one, what it uses, and its limits."""
