"""The fields of searches that the extension serves."""

SEARCH_FIELDS = ("history", "gate", "rerank", "context")
