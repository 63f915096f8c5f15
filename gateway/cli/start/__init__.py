"""What a user runs first: the server, the MCP tools, and a check of the settings."""
