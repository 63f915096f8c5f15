"""How often documents were opened: stored for days, and rolled up for searches to rank by."""
