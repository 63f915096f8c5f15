"""What a request asks: its address, parameters, body, and who sends it."""
