"""What requests and answers consist of."""
