"""A retriever for LangChain.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python langchain_retriever.py "how many days?"
"""

import os
import sys

import httpx2
from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

_METADATA = ("document_id", "title", "uri", "score", "scope", "tenant")


class NearhitRetriever(BaseRetriever):
    url: str
    key: str
    top_k: int = 5

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        answer = httpx2.post(
            f"{self.url}/v1/search",
            headers={"Authorization": f"Bearer {self.key}"},
            json={"query": query, "top_k": self.top_k},
        )
        answer.raise_for_status()
        return [
            Document(
                id=str(hit["chunk_id"]),
                page_content=hit["text"],
                # tenant: another one that has published the document, if it has.
                metadata={name: hit[name] for name in _METADATA if name in hit},
            )
            for hit in answer.json()["hits"]
        ]


if __name__ == "__main__":
    retriever = NearhitRetriever(url=os.environ["NEARHIT_URL"], key=os.environ["NEARHIT_KEY"])
    for document in retriever.invoke(sys.argv[1]):
        print(document.metadata["document_id"], document.page_content)
