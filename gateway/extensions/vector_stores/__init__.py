"""OpenAI's vector store and file API: its clients only need another base URL."""
