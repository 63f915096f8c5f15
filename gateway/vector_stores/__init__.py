"""What OpenAI's API has for retrieval: its clients need another URL, and no more."""
