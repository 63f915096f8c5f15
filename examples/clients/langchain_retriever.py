"""Finds with LangChain: asynchronously, and among documents in English alone.

pip install nearhit-client[langchain]
NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python langchain_retriever.py "how many days?"
"""

import asyncio
import sys

from nearhit_client import AsyncClient, Client
from nearhit_client.langchain import NearhitRetriever


async def main(question: str) -> None:
    with Client() as client:
        async with AsyncClient() as async_client:
            retriever = NearhitRetriever(
                client=client, async_client=async_client, search={"top_k": 5}
            )
            found = await retriever.ainvoke(question, filter={"languages": ["en"]})
    for document in found:
        print(document.metadata["document_id"], document.page_content)


asyncio.run(main(sys.argv[1]))
