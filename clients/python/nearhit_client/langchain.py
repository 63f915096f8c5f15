"""A retriever for LangChain: `pip install nearhit-client[langchain]`."""

import asyncio
from functools import partial
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import Field

from nearhit_client.client import AsyncClient, Client
from nearhit_client.types import HitAnswer


class NearhitRetriever(BaseRetriever):
    """Finds with the rights of its client's key.

    async_client: for `ainvoke`, which without one runs `client` in a thread.
    search: fields of `Client.search`, such as `top_k` and `filter`; those that a call of `invoke`
    gives win.
    """

    client: Client
    async_client: AsyncClient | None = None
    search: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **search: Any
    ) -> list[Document]:
        answer = self.client.search(**{**self.search, **search, "query": query})
        return [_document(hit) for hit in answer["hits"]]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **search: Any
    ) -> list[Document]:
        if self.async_client is None:
            found = partial(self._get_relevant_documents, run_manager=run_manager.get_sync())
            return await asyncio.to_thread(found, query, **search)
        answer = await self.async_client.search(**{**self.search, **search, "query": query})
        return [_document(hit) for hit in answer["hits"]]


def _document(hit: HitAnswer) -> Document:
    metadata = {name: value for name, value in hit.items() if name != "text"}
    return Document(id=str(hit["chunk_id"]), page_content=hit["text"], metadata=metadata)
