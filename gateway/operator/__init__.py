"""What the operator does without a gateway: straight on the servers."""
