"""Documents over HTTP: write, read, list, share, explain and delete."""
