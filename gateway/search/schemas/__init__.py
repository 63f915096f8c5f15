"""The request and response bodies of searches."""
