"""HTML as Markdown: what a page shows, which parts of it are content, and its tables."""
