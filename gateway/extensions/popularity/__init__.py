"""Counts which documents are opened, and stores how popular they are, for searches to rank by."""
