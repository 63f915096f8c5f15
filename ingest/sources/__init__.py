"""The kinds of sources that documents are read from."""
