"""Summaries of documents and of their long sections: which parts have one, and who says what."""
