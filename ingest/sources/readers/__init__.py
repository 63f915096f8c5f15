"""The readers of each kind of source: its files, rows, pages or commits, as documents."""
