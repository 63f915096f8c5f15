"""One Redis process: its connections, its circuit breaker, and the time that a call may take."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

from redis.asyncio import Redis
from redis.exceptions import (
    AskError,
    ClusterDownError,
    NoScriptError,
    RedisError,
    ResponseError,
    TryAgainError,
)

from cache.errors import CacheUnavailable
from cache.redis.call_timeout import CallTimeout
from cache.redis.permissions import refusal
from cache.redis.pipelined_connection import PipelinedConnection, is_of_closed_transport
from common.circuit_breaker import CircuitBreaker

# Sends one command and returns its reply.
Send: TypeAlias = Callable[..., Awaitable[Any]]
# Makes one call with a `Send`, which it may use more than once.
Call: TypeAlias = Callable[[Send], Awaitable[Any]]

# Replies that concern one script or one slot, and say nothing about the process.
_REPLIES_OF_ONE_SLOT = (NoScriptError, AskError, TryAgainError, ClusterDownError)


class RedisNode:
    """name: in error messages. budget_s bounds each call.

    on_refusal: receives what Redis says to a call that its user is not allowed.
    is_refused: whether the last call was such a one.

    Calls raise `CacheUnavailable`; a process of a cluster also raises `AskError` (of which
    `MovedError` is one), `TryAgainError` and `ClusterDownError`.
    """

    def __init__(
        self,
        name: str,
        client: Redis,
        breaker: CircuitBreaker,
        *,
        budget_s: float,
        on_refusal: Callable[[str], None] = lambda _text: None,
    ) -> None:
        self.name = name
        self.is_refused = False
        self._on_refusal = on_refusal
        self._client = client
        self._line = PipelinedConnection(client)
        self._breaker = breaker
        self._budget_s = budget_s

    async def run(self, call: Call, *, asking: bool = False) -> Any:
        """Make a call on the shared connection.

        asking: whether each command follows an ASK redirection to this process.
        """
        send = partial(self._line.send, asking=True) if asking else self._line.send
        return await self._guard(lambda: call(send))

    async def run_apart(self, call: Callable[[Redis], Awaitable[Any]]) -> Any:
        """Make a call on a connection of its own, because its reply is long."""
        return await self._guard(lambda: call(self._client))

    async def aclose(self) -> None:
        await self._line.aclose()
        await self._client.aclose()

    async def _guard(self, call: Callable[[], Awaitable[Any]]) -> Any:
        admitted = self._breaker.admit()
        if admitted is None:
            raise CacheUnavailable(f"{self.name} is skipped after a recent failure")
        try:
            async with CallTimeout(self._budget_s):
                reply = await call()
        except _REPLIES_OF_ONE_SLOT:
            self._breaker.succeeded(admitted)
            raise
        except (RedisError, OSError) as error:
            self._breaker.failed(admitted)
            detail = refusal(error)
            self.is_refused = bool(detail)
            if detail:
                self._on_refusal(detail)
                raise CacheUnavailable(f"{self.name} refused a call: {detail}") from error
            if not isinstance(error, ResponseError):  # an error reply leaves the connection usable
                self._line.disconnect()
            raise CacheUnavailable(f"{self.name} did not answer: {type(error).__name__}") from error
        except BaseException as error:
            if is_of_closed_transport(error):
                self._breaker.failed(admitted)
                raise CacheUnavailable(f"{self.name} closed the connection") from error
            self._breaker.abandoned(admitted)  # the caller was cancelled: there is no outcome
            raise
        self._breaker.succeeded(admitted)
        self.is_refused = False
        return reply


class SingleNode:
    """The nodes of a Redis that is not a cluster: one, which has all keys."""

    def __init__(self, node: RedisNode) -> None:
        self._node = node

    async def run(self, _key: str, call: Call) -> Any:
        try:
            return await self._node.run(call)
        except (AskError, TryAgainError, ClusterDownError) as error:
            detail = "Redis is a node of a cluster, and its URL names one server"
            raise CacheUnavailable(detail) from error

    async def run_apart(self, _key: str, call: Callable[[Redis], Awaitable[Any]]) -> Any:
        return await self._node.run_apart(call)

    def owner(self, _key: str) -> RedisNode:
        return self._node

    async def holder(self, _key: str) -> RedisNode:
        return self._node

    def slots(self) -> Mapping[RedisNode, None]:
        return {self._node: None}
