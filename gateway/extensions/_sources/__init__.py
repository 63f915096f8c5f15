"""What reads other systems into a tenant: sources, their kinds and settings, and their readings."""
