"""What is wrong with a request: a problem for its caller."""
