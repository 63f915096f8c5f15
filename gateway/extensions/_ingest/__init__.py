"""What several extensions use to read sources by a command: their options, reading, progress."""
