"""Redis: the store of entries and states, its scripts, its nodes, and how calls are bounded."""
