"""The description of the API for programs."""
