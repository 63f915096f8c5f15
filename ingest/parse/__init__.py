"""Files as text: HTML, PDF, DOCX, Markdown and YAML, read within limits."""
