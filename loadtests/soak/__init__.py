"""The promise at speed: real histories of edits and of rights, and every answer audited."""
