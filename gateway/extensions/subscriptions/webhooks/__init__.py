"""Webhooks: events of subscriptions that are sent to an address."""
