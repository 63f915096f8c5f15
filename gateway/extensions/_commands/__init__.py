"""What several extensions use in their commands: files that are whole or not there."""
