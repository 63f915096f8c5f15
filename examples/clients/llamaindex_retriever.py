"""A retriever for LlamaIndex.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python llamaindex_retriever.py "how many days?"
"""

import os
import sys

import httpx2
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

_METADATA = ("document_id", "title", "uri", "scope", "tenant")


class NearhitRetriever(BaseRetriever):
    def __init__(self, url: str, key: str, top_k: int = 5) -> None:
        super().__init__()
        self._url, self._key, self._top_k = url, key, top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        answer = httpx2.post(
            f"{self._url}/v1/search",
            headers={"Authorization": f"Bearer {self._key}"},
            json={"query": query_bundle.query_str, "top_k": self._top_k},
        )
        answer.raise_for_status()
        return [
            NodeWithScore(
                node=TextNode(
                    id_=str(hit["chunk_id"]),
                    text=hit["text"],
                    # tenant: another one that has published the document, if it has.
                    metadata={name: hit[name] for name in _METADATA if name in hit},
                ),
                score=hit["score"],
            )
            for hit in answer.json()["hits"]
        ]


if __name__ == "__main__":
    retriever = NearhitRetriever(os.environ["NEARHIT_URL"], os.environ["NEARHIT_KEY"])
    for found in retriever.retrieve(sys.argv[1]):
        print(found.node.metadata["document_id"], found.node.get_content())
