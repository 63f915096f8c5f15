"""A client that reads slowly is answered when it can take the answer."""

import pytest

from gateway.settings.settings import Settings
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller, Gateway, connected, serving
from tests.gateway.support.raw_http import raw, search

pytestmark = pytest.mark.anyio


@pytest.mark.sampled("True")
@pytest.mark.parametrize("is_repeated", [False, True])
async def test_an_answer_is_not_made_while_the_one_before_waits_for_the_client(
    gateway: Gateway, shared_settings: Settings, embedder: Embedder, *, is_repeated: bool
) -> None:
    ada = await gateway.caller("ada", roles=["writer"])
    ana = await gateway.caller("ana")
    for number in range(8):
        text = f"Parental leave {number}. " + f"word{number} " * 1_000
        await ada.put(f"long-{number}", text, readers=["tenant"], chunker="whole")
    await ada.put("secret", "A zebra is kept here.", readers=["tenant"])
    first = search(ana, b'{"query": "parental leave", "top_k": 8}')
    second = search(ana, b'{"query": "zebra", "alpha": 0}')

    async with (
        serving(shared_settings, embedder, send_buffer_bytes=4_096) as url,
        connected(url) as client,
        raw(Gateway(client), buffer_bytes=4_096) as slow,
        raw(Gateway(client)) as fast,
    ):
        if is_repeated:
            await fast.send(second)
            assert b"secret" in (await fast.answer()).body
        await slow.send(first)
        await slow.until(b'"hits"')  # and then it reads no more
        await slow.send(second)
        await Caller(client, ana.key).search("another question")  # arrives after it
        await ada.share("secret", "user:ada")
        rest = await slow.until(b'{"hits":[]}')

    assert len(rest) > 32_768, "the first answer did not wait for the client"
    assert b"secret" not in rest
