"""Subscriptions: callers are told when the answer to a question changes."""
