"""Rules of the product that are broken on purpose, each in a process of its own, to be found."""
