"""Memory of conversations: a session is a document, and each of its turns is found by itself."""
