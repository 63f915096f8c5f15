"""What the load consists of: who asks which question, who writes what, and who may read it."""
