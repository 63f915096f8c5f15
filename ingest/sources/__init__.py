"""Sources: the kinds of things that documents are read from, one a file."""
