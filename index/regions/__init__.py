"""Regions: the read leases of gateways that are far from the primary."""
