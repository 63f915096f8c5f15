"""A client's connection: its limits, the head of a request, and how a response is sent."""
