"""Requests made up from the API's own description, as each role, against a gateway that runs."""
