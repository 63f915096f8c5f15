"""Neural models from wheels beside the built-in one: quality, time and size."""
