"""A collector of traces: OTLP over HTTP, as protobuf."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span; identifiers in hexadecimal digits, times in nanoseconds."""

    name: str
    service: str
    trace_id: str
    span_id: str
    parent_id: str
    began_ns: int
    ended_ns: int
    attributes: dict[str, Any]
    is_failed: bool


@dataclass(slots=True)
class Collector:
    """bodies: all that it received, for a look at what must not be there."""

    url: str = ""
    spans: list[ReceivedSpan] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            lines = head.split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
            body = await reader.readexactly(int(headers["content-length"]))
            assert lines[0].startswith("POST /v1/traces ")
            assert headers["content-type"] == "application/x-protobuf"
            self._receive(body)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            await writer.drain()
        writer.close()

    def _receive(self, body: bytes) -> None:
        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _attributes(resource.resource.attributes)["service.name"]
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self.spans.append(
                        ReceivedSpan(
                            name=span.name,
                            service=service,
                            trace_id=span.trace_id.hex(),
                            span_id=span.span_id.hex(),
                            parent_id=span.parent_span_id.hex(),
                            began_ns=span.start_time_unix_nano,
                            ended_ns=span.end_time_unix_nano,
                            attributes=_attributes(span.attributes),
                            is_failed=span.status.code == 2,
                        )
                    )

    def named(self, name: str) -> list[ReceivedSpan]:
        return [span for span in self.spans if span.name == name]

    def path(self, span: ReceivedSpan) -> list[str]:
        """The names from the span up to the request or job."""
        by_id = {each.span_id: each for each in self.spans}
        names = [span.name]
        while parent := by_id.get(span.parent_id):
            names.append(parent.name)
            span = parent
        return names


@asynccontextmanager
async def collector() -> AsyncIterator[Collector]:
    made = Collector()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        made.url = f"http://{host}:{port}"
        yield made


def _attributes(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
