"""Gateways with one rule of read leases broken on purpose, to show that the judge detects it."""
