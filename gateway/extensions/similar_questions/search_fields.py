"""The fields of searches that the extension serves."""

SEARCH_FIELDS = ("semantic",)
