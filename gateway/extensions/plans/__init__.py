"""Search plans: steps of one call that use what earlier ones found; and stored ones, strategies."""
