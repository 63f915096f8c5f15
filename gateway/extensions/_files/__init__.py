"""Files of all formats that are installed as Markdown, read within limits; YAML."""
