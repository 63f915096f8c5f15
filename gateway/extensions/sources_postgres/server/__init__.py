"""What is asked of a followed server, over one connection."""
