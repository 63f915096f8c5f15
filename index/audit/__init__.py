"""The stored audit log and its hash chain."""
