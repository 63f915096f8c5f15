"""The benchmark of the index: each section measures something, writes it down, and has its bars."""
