"""Why a document is not in the answer to a search."""
