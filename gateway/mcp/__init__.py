"""The Model Context Protocol: what an agent's client calls instead of the HTTP API."""
