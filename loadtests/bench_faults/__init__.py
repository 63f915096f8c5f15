"""What callers see while a server dies, hangs, fills up or is cut off, and the recovery."""
