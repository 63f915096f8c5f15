"""Gateways with one rule of the cache broken on purpose, to show that the soak detects it."""
