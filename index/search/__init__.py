"""The search: which passes over which rows, fusion, and the hits of an answer."""
