"""Requests made up from the API's own description, and hostile HTTP, against running gateways."""
