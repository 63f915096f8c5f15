"""The extension with the command that reads folders, files and repositories."""
