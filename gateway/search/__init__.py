"""Search over HTTP: from a request body to an answer, cached or computed."""
