"""What several extensions use of query gates: which messages are questions for the documents."""
