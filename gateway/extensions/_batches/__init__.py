"""What several extensions use for the lines of a body, and for several searches at one revision."""
