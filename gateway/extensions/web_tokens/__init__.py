"""The extension that takes callers for whom the web tokens of another issuer name."""
