"""The extension that answers many searches in one call."""
