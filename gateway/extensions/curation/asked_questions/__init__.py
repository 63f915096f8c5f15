"""The questions that callers ask most: counted and stored."""
