"""A retriever for LlamaIndex: `pip install nearhit-client[llamaindex]`."""

import asyncio
from typing import Any

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from nearhit_client.client import AsyncClient, Client
from nearhit_client.types import HitAnswer

_FOR_THE_MODEL = {"title", "uri"}


class NearhitRetriever(BaseRetriever):
    """Finds with the rights of its client's key.

    async_client: for `aretrieve`, which without one runs `client` in a thread.
    search: fields of `Client.search`, such as `top_k` and `filter`.
    """

    def __init__(
        self, client: Client, async_client: AsyncClient | None = None, **search: Any
    ) -> None:
        super().__init__()
        self._client, self._async_client, self._search = client, async_client, search

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = self._client.search(**{**self._search, "query": query_bundle.query_str})
        return [_node(hit) for hit in answer["hits"]]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        if self._async_client is None:
            return await asyncio.to_thread(self._retrieve, query_bundle)
        search = {**self._search, "query": query_bundle.query_str}
        answer = await self._async_client.search(**search)
        return [_node(hit) for hit in answer["hits"]]


def _node(hit: HitAnswer) -> NodeWithScore:
    metadata = {name: value for name, value in hit.items() if name != "text"}
    node = TextNode(
        id_=str(hit["chunk_id"]),
        text=hit["text"],
        metadata=metadata,
        excluded_llm_metadata_keys=[name for name in metadata if name not in _FOR_THE_MODEL],
    )
    return NodeWithScore(node=node, score=hit["score"])
