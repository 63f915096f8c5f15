"""Documents whose identifier would be refused today."""

import pytest

from gateway.monitoring.metrics import Metrics
from gateway.services import open_services
from gateway.settings.settings import Settings
from index.model.document import Document
from index.search.query_embedder import Embedder
from tests.gateway.support.gateways import Caller

pytestmark = [pytest.mark.anyio, pytest.mark.isolated, pytest.mark.slow]


async def test_one_that_was_written_before_it_was_refused_can_be_removed(
    admin: Caller, settings: Settings, embedder: Embedder
) -> None:
    document = Document("x/access/explain", "", "One.", "api", "", "en", (), {}, None, ())
    async with open_services(settings, Metrics(), embedder) as services:
        await services.documents.writer.put("acme", document.document_id, lambda _: document)

    answer = await admin.call("DELETE", "/v1/documents/x/access/explain")

    assert answer.status_code == 200, answer.text
