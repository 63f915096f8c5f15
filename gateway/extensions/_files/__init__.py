"""How files of all formats that are installed become text."""
