"""Several searches in one call, all at one revision: batches, search plans and named strategies."""
