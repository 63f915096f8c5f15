"""Whether the passages that an agent keeps in its context still hold."""
