"""The request and response bodies of OpenAI's API."""
