"""Sources that are read in a process of their own, within limits of memory and time."""
