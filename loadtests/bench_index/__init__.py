"""The index beside brute force, bare statements and its peers."""
