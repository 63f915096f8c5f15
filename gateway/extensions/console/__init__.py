"""The web console: its static files, and the routes that serve them."""
