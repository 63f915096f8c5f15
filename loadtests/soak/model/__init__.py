"""The model that the soak compares with: credentials, acknowledged revisions, queued writes."""
