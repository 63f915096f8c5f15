"""The search: passes over the visible rows, fusion, and the hits of an answer."""
