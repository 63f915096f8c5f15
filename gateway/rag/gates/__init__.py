"""Query gates decide whether a message is a question for the documents."""
