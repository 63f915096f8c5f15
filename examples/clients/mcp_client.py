"""What an agent does: look at the tools, search, and read the document that was found.

NEARHIT_URL=http://127.0.0.1:8080 NEARHIT_KEY=… python mcp_client.py "how many days of leave?"
"""

import asyncio
import os
import sys

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def main(question: str) -> None:
    headers = {"Authorization": f"Bearer {os.environ['NEARHIT_KEY']}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(
            streamable_http_client(f"{os.environ['NEARHIT_URL']}/mcp", http_client=http)
        ) as client,
    ):
        tools = await client.list_tools()
        print("tools:", ", ".join(tool.name for tool in tools.tools))
        found = await client.call_tool("search", {"query": question})
        for result in found.structured_content["results"]:
            print(result["id"], result["url"], result["text"][:60])
        if found.structured_content["results"]:
            first = found.structured_content["results"][0]["id"]
            document = await client.call_tool("fetch", {"id": first})
            print(document.structured_content["text"])


asyncio.run(main(sys.argv[1]))
