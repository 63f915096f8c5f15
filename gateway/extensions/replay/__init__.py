"""The extension that gives answers of earlier revisions again."""
