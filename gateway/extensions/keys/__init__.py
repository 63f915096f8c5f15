"""The calls and commands that create, list and revoke keys, tokens and groups."""
