"""Receipts: signed statements of what a search answered."""
