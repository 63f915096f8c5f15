"""Which similar question may share an answer, and how often that was right."""
