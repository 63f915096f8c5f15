"""The archive of a tenant: its format, what writes it and what reads it back."""
