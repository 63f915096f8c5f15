"""A search may rewrite and gate its question, rerank its hits, and join them into a context."""

from gateway.extension import Extension
from gateway.extensions.rag.search_steps import open_steps

EXTENSION: Extension[None] = Extension(
    "searches rewrite and gate their questions, rerank hits, and join them into a context",
    search_steps=open_steps,
)
