"""Agents' clients read the answer to a search as a resource, whose address is the search."""

import pytest
from mcp import MCPError
from mcp_types import ReadResourceResult, TextResourceContents

from tests.gateway.extensions.mcp.test_mcp import LEAVE, MODES, connected
from tests.gateway.extensions.mcp.test_mcp import text as text_of_tool
from tests.gateway.support.gateways import Caller

pytestmark = pytest.mark.anyio

URI = "nearhit://search?query=annual%20leave&top_k=2&source=api"
NO_SEARCHES = (
    "nearhit://search",
    "nearhit://search?query=",
    "nearhit://search?query=a&top_k=x",
    "nearhit://search?query=a&top_k=1000",
    f"nearhit://search?query=a&top_k={9 * 10**18}",
    f"nearhit://search?query=a&top_k={9 * 10**30}",
    "nearhit://search?query=a&owner=ana",
    "nearhit://elsewhere?query=a",
    "nearhit://[search?query=a",
    "https://example.com/",
)


def text(result: ReadResourceResult) -> str:
    (contents,) = result.contents
    assert isinstance(contents, TextResourceContents)
    return contents.text


@pytest.mark.parametrize("mode", MODES)
async def test_a_client_reads_the_answer_that_the_tool_gives(ana: Caller, mode: str) -> None:
    await ana.put("leave", LEAVE)
    await ana.put("wiki", LEAVE, source="wiki")

    async with connected(ana, mode) as client:
        templates = (await client.list_resource_templates()).resource_templates
        read = await client.read_resource(URI)
        arguments = {"query": "annual leave", "top_k": 2, "sources": ["api"]}
        found = await client.call_tool("search", arguments)

    assert [template.uri_template.partition("{")[0] for template in templates] == [
        "nearhit://search"
    ]
    assert text(read) == text_of_tool(found)


async def test_an_address_that_names_no_search_is_an_error(ana: Caller) -> None:
    async with connected(ana) as client:
        for uri in NO_SEARCHES:
            with pytest.raises(MCPError):
                await client.read_resource(uri)
