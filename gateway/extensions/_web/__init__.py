"""What several extensions use to ask hosts on the web: which addresses, how often, how long."""
