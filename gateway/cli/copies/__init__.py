"""Commands that copy: backups of a database, and exports and imports of a tenant."""
