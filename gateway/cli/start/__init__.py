"""What a user runs first: the server, and a check of the settings."""
