"""The reverse search: which cached answers a change invalidates."""
