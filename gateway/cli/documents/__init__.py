"""Commands that write and search documents, and settle questions about them."""
