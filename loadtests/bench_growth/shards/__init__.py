"""Tenants in a gateway's memory: what they take to load, and what questions and edits cost."""
