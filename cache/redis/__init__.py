"""Redis: the store of entries and states, its scripts, and how calls to it are bounded."""
