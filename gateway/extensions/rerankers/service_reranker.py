"""A reranker that calls a rerank service."""

import asyncio
from collections.abc import Sequence

import httpx2
import structlog

from common.circuit_breaker import CircuitBreaker
from gateway.extension import Order, RerankerUnavailable
from gateway.extensions.rerankers import rerank_protocol
from gateway.extensions.rerankers.passage_order import complete, passage_text
from gateway.extensions.rerankers.rerank_protocol import Request, RerankReply, UnknownReply
from index.search.hits import Hit

_REPLY_BYTES_MAX = 1_048_576
_REFUSALS = (400, 422)  # of a request with a field that the service lacks or does not know

log = structlog.get_logger()


class ServiceReranker:
    """Calls a service with any of the known APIs; see `rerank_protocol`. It closes the client."""

    def __init__(
        self,
        client: httpx2.AsyncClient,
        breaker: CircuitBreaker,
        *,
        url: str,
        model: str | None,
        deadline_s: float,
    ) -> None:
        self._client = client
        self._breaker = breaker
        self._url = url
        self._model = model
        self._deadline_s = deadline_s
        self._request_forms = rerank_protocol.REQUEST_FORMS  # the accepted one first
        self._reply_form = ""

    async def order(self, _tenant: str, query: str, hits: Sequence[Hit]) -> Order:
        admitted = self._breaker.admit()
        if admitted is None:
            raise RerankerUnavailable("error")
        try:
            reply = self._parse(await self._request(query, hits), len(hits))
        except RerankerUnavailable:
            self._breaker.failed(admitted)
            raise
        except BaseException:  # cancelled: the caller has gone
            self._breaker.abandoned(admitted)
            raise
        self._breaker.succeeded(admitted)
        ranked = sorted(reply.scores.items(), key=lambda result: (-result[1], result[0]))
        return complete([*ranked], len(hits))

    async def close(self) -> None:
        await self._client.aclose()

    def _parse(self, body: bytes, count: int) -> RerankReply:
        """The reply, whose form is logged if it is another than the last one's."""
        try:
            reply = rerank_protocol.parse_reply(body, count)
        except UnknownReply as error:
            log.warning("rerank_reply", state="unknown", detail=str(error))
            raise RerankerUnavailable("garbage") from None
        if reply.form != self._reply_form:
            log.info("rerank_reply", state="understood", detail=reply.form)
            self._reply_form = reply.form
        return reply

    async def _request(self, query: str, hits: Sequence[Hit]) -> bytes:
        """The reply to the first form of the request that the service accepts."""
        texts = [passage_text(hit) for hit in hits]
        model = {"model": self._model} if self._model else {}
        try:
            async with asyncio.timeout(self._deadline_s):
                for form in self._request_forms:
                    reply = await self._send({**form(query, texts), **model})
                    if reply is not None:
                        others = (other for other in self._request_forms if other is not form)
                        self._request_forms = (form, *others)
                        return reply
        except (TimeoutError, httpx2.TimeoutException):
            raise RerankerUnavailable("deadline") from None
        except (httpx2.HTTPError, httpx2.InvalidURL):
            pass  # its message may contain the key
        raise RerankerUnavailable("error")

    async def _send(self, body: Request) -> bytes | None:
        """The reply; None if the service refuses the form of the request."""
        received = bytearray()
        async with self._client.stream("POST", self._url, json=body) as reply:
            if reply.status_code in _REFUSALS:
                return None
            reply.raise_for_status()
            async for piece in reply.aiter_bytes():
                received += piece
                if len(received) > _REPLY_BYTES_MAX:
                    raise RerankerUnavailable("garbage")
        return bytes(received)
