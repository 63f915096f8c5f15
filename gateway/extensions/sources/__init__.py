"""The extension with the sources that a worker reads."""
