"""Who was shown what, and whose requests were refused, for the audit log."""
