"""The write path: plan, embed what is new, commit once, invalidate."""
