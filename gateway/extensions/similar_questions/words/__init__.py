"""What words of a question mean, by lists of each language."""
