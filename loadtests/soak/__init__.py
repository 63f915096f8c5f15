"""The soak: histories of edits and of rights under load, with every answer audited."""
