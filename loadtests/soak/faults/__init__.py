"""The faults of the servers during a soak, at seeded random moments."""
