"""What several extensions read of regions: the leases of gateways, and the standbys."""
