"""The answer cache: its tiers, wired to Redis and to the index that invalidates them."""
