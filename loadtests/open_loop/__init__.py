"""Requests sent when they are due, and a verdict on the answers: what `nearhit loadtest` runs."""
