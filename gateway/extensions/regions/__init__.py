"""The extension for gateways far from PostgreSQL: what they answer from, what writes wait for."""
