"""How several extensions read the audit log, and verify that it is whole."""
