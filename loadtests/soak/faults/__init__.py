"""What happens to the servers during a soak, at seeded random moments."""
