"""`POST /mcp`: one JSON-RPC request and its response, without a session.

Tool calls and resources are answered here, from bytes to bytes; the protocol's package handles all
others.
"""

from dataclasses import replace
from typing import Any

import orjson
from starlette.responses import Response

from gateway.extension import (
    BATCH_SEARCHES_MAX,
    Headers,
    McpMethod,
    McpTool,
    RawResponse,
    RequestContext,
    decode_json,
    problems,
)
from gateway.extensions._batches.held_answers import HeldAnswers
from gateway.extensions._mcp.argument_parsing import ToolArguments
from gateway.extensions.mcp import resources
from gateway.extensions.mcp.mcp_services import McpServices
from gateway.extensions.mcp.tools import TOOLS, refusal
from index.model.document import METADATA_INTEGER_MAX

_INVALID_REQUEST = -32600  # of JSON-RPC 2.0, section 5.1
_INVALID_PARAMS = -32602
_PARSE_ERROR = -32700
_TOOL_ERROR_STATUSES = {400, 404, 422}  # errors that a model can correct


async def mcp(context: RequestContext[McpServices]) -> Response:
    if not context.services.protocol.is_loaded:
        await context.authenticate()  # nobody without a key makes the worker load anything
        await context.services.protocol.load()
    try:
        (request,) = await context.threads.map(_decode, [context.body])
    except (problems.Problem, orjson.JSONDecodeError) as error:
        await context.authenticate()
        reason = error.detail if isinstance(error, problems.Problem) else ""
        return _error(None, _PARSE_ERROR, f"The body must be JSON. {reason}".strip(), 400)
    if isinstance(request, list):
        return await _answer_batch(context, request)
    return await _answer(context, request)


def _decode(body: bytes) -> Any:
    decode_json(body)
    return orjson.loads(body)


async def _answer_batch(context: RequestContext[McpServices], batch: list[Any]) -> Response:
    """The responses to a list of requests, if the version has such lists and it is not too long.

    A list without any message is refused as a whole, as the transport requires of such input.
    """
    from gateway.extensions.mcp import protocol

    await context.authenticate()
    is_allowed = protocol.has_batches(context.trace.headers) and len(batch) <= BATCH_SEARCHES_MAX
    if not (is_allowed and any(map(_is_message, batch))):
        return _refuse_non_request(batch)
    await context.spend(len(batch) - 1)
    held, bodies = HeldAnswers(context.slot), []
    for request in batch:
        response = await _answer(context, request)
        if response.body:  # a notification has none
            bodies.append(bytes(response.body))
            held.hold(bodies[-1])
    if not bodies:
        return Response(status_code=202)
    body = b"[%b]" % b",".join(bodies)
    return RawResponse(body, _headers(body))


async def _answer(context: RequestContext[McpServices], request: Any) -> Response:
    if isinstance(request, dict) and request.get("params", {}) is None:
        request = {**request, "params": {}}  # some serializers write members that are unset
    if not _is_request(request):
        await context.authenticate()
        return _refuse_non_request(request)
    return await _answer_request(context, request)


async def _answer_request(
    context: RequestContext[McpServices], request: dict[str, Any]
) -> Response:
    from gateway.extensions.mcp import protocol

    envelope = None
    try:
        envelope = protocol.open_envelope(request, context.trace.headers)
        own = context.services.methods.get(request["method"])
        if own is not None and envelope.stamp:
            return await _answer_by_extension(context, request, *own)
        if request["method"] == "resources/read":
            return await _read_resource(context, request, envelope.stamp)
        tool, arguments = _parse_tool_call(context.services, request)
        if tool is None:
            await context.authenticate()
            result = await protocol.serve(request, envelope, context.services.of_extensions)
            return _result(request["id"], result, [])
    except protocol.ERRORS as error:
        await context.authenticate()  # an unauthenticated caller gets 401 first
        data, status = protocol.error_of(error, envelope)
        return _error(request["id"], data.code, data.message, status, data.data)
    result, headers = await _run_tool(context, tool, arguments)
    return _result(request["id"], b"{%b%b}" % (envelope.stamp, result), headers)


async def _answer_by_extension(
    context: RequestContext[Any], request: dict[str, Any], method: McpMethod[Any], services: Any
) -> Response:
    return await method.answer(replace(context, services=services), request)


async def _read_resource(
    context: RequestContext[McpServices], request: dict[str, Any], stamp: bytes
) -> Response:
    """The contents of a resource; an address that names none is an error of the protocol."""
    try:
        fields, headers = await resources.read(context, request.get("params", {}))
    except problems.Problem as problem:
        if problem.status not in _TOOL_ERROR_STATUSES:
            raise
        await context.authenticate()
        return _error(request["id"], _INVALID_PARAMS, problem.text(), 200)
    return _result(request["id"], b"{%b%b}" % (stamp, fields), headers)


def _is_request(request: Any) -> bool:
    """Whether it is a JSON-RPC 2.0 request with an id."""
    return (
        isinstance(request, dict)
        and request.get("jsonrpc") == "2.0"
        and isinstance(request.get("method"), str)
        and isinstance(request.get("params"), dict | None)
        and _is_id(request.get("id"))
    )


def _is_id(value: Any) -> bool:
    """Whether it is a text, or an integer that every JSON parser represents exactly."""
    return type(value) is str or (type(value) is int and abs(value) <= METADATA_INTEGER_MAX)


def _parse_tool_call(
    services: McpServices, request: dict[str, Any]
) -> tuple[tuple[McpTool[Any], Any] | None, dict[str, Any]]:
    """A call's tool with its services, and its arguments; None if it is no valid call of a tool."""
    params = request.get("params", {})
    arguments = params.get("arguments")
    arguments = {} if arguments is None else arguments
    name = params.get("name")
    if request["method"] != "tools/call" or not isinstance(name, str):
        return None, {}
    tool = (TOOLS[name], services) if name in TOOLS else services.tools.get(name)
    return (tool, arguments) if isinstance(arguments, dict) else (None, {})


async def _run_tool(
    context: RequestContext[Any], own: tuple[McpTool[Any], Any], arguments: dict[str, Any]
) -> tuple[bytes, Headers]:
    """The tool's result; an error that a model can correct becomes a result with isError.

    own: the tool, with the services that it gets.
    """
    tool, services = own
    try:
        canonical = ToolArguments(orjson.dumps(arguments, option=orjson.OPT_SORT_KEYS))
        return await tool.run(replace(context, services=services), canonical)
    except problems.Problem as problem:
        if problem.status not in _TOOL_ERROR_STATUSES:
            raise
        return refusal(problem), []


def _is_message(body: Any) -> bool:
    return _is_request(body) or _is_notification(body) or _is_response(body)


def _is_notification(body: Any) -> bool:
    return isinstance(body, dict) and "id" not in body and _is_request({**body, "id": 0})


def _is_response(body: Any) -> bool:
    """Whether it is a response to a request; this server has sent none, and ignores it."""
    if not isinstance(body, dict):
        return False
    is_outcome = "method" not in body and ("result" in body) != ("error" in body)
    return is_outcome and body.get("jsonrpc") == "2.0" and _is_id(body.get("id"))


def _refuse_non_request(body: Any) -> Response:
    if _is_notification(body) or _is_response(body):
        return Response(status_code=202)
    return _error(None, _INVALID_REQUEST, "The body must be one request of JSON-RPC 2.0.", 400)


def _result(request_id: int | str, result: bytes, headers: Headers) -> Response:
    body = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (orjson.dumps(request_id), result)
    return RawResponse(body, [*_headers(body), *headers])


def _error(
    request_id: int | str | None, code: int, message: str, status: int, data: Any = None
) -> Response:
    error = {"code": code, "message": message} | ({} if data is None else {"data": data})
    body = orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error})
    response = RawResponse(body, _headers(body))
    response.status_code = status
    return response


def _headers(body: bytes) -> Headers:
    return [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
