"""What a user runs first: the demo, the server, the MCP tools, and a check of the settings."""
