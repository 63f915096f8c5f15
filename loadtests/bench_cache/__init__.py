"""The benchmark of the cache: each section measures something, writes it down, and has its bars."""
