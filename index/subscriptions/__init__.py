"""Subscriptions to questions, and the events that report their answers."""
