"""What several extensions use in their commands: files that are whole, and a gateway's address."""
