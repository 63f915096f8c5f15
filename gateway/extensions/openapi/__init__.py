"""The description of the API and of its problems for programs."""
