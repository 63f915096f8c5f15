"""What several extensions use to answer several searches in one call, all at one revision."""
