"""What an operator learns of an embedder that searches go on without."""

import pytest
from structlog.typing import EventDict

from gateway.monitoring.metrics import Metrics
from gateway.search.metered_embedder import MeteredEmbedder
from index.errors import EmbeddingUnavailable
from index.search.query_embedder import Embedder
from tests.gateway.support.unreliable_embedder import MoodyEmbedder

pytestmark = pytest.mark.anyio


async def test_an_embedder_that_goes_away_is_told_once_and_so_is_its_return(
    embedder: Embedder, logs: list[EventDict]
) -> None:
    moody = MoodyEmbedder(embedder)
    timed = MeteredEmbedder(moody, Metrics())

    moody.away = True
    for _ in range(3):
        with pytest.raises(EmbeddingUnavailable):
            await timed.embed_query("leave")
    moody.away = False
    for _ in range(3):
        await timed.embed_passages(["leave"])  # of which nothing was amiss
        await timed.embed_query("leave")

    assert [(line["log_level"], line["kind"], line["state"]) for line in logs] == [
        ("warning", "query", "unavailable"),
        ("info", "query", "available"),
    ]
    assert logs[0]["detail"] == "the test said so"
