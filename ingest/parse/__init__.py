"""Files of many formats as Markdown, read within limits; YAML."""
