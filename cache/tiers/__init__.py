"""The tiers that an answer may come from: a file each, with `look` and `keep`."""
