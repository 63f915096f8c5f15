"""Finds with LlamaIndex: asynchronously, and among documents in English alone.

pip install nearhit-client[llamaindex]
NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python llamaindex_retriever.py "how many days?"
"""

import asyncio
import sys

from nearhit_client import AsyncClient, Client
from nearhit_client.llamaindex import NearhitRetriever


async def main(question: str) -> None:
    with Client() as client:
        async with AsyncClient() as async_client:
            retriever = NearhitRetriever(
                client, async_client, top_k=5, filter={"languages": ["en"]}
            )
            found = await retriever.aretrieve(question)
    for each in found:
        print(each.node.metadata["document_id"], each.node.get_content())


asyncio.run(main(sys.argv[1]))
