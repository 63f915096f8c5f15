"""One connection to Redis that all calls share; replies arrive in the order of the commands.

Leasing a connection for each call takes ten times as much processor time (60 against 6 µs).
A long reply delays all later ones, so such calls use a separate connection.
"""

import asyncio
import math
from collections import deque
from typing import Any

from hiredis import pack_command
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ConnectionError as NotConnected
from redis.exceptions import RedisError, ResponseError
from redis.typing import EncodableT

_ASKING: bytes = pack_command(("ASKING",))


def is_of_closed_transport(error: BaseException) -> bool:
    """Whether uvloop raised it since the connection has ended, which no `OSError` says."""
    return isinstance(error, RuntimeError) and "handler is closed" in str(error)


class PipelinedConnection:
    """Connects at the first call and after each disconnection, until it is closed.

    Calls have no timeout here: the caller bounds them.
    """

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._current: _Connection | None = None
        self._dialling = asyncio.Lock()
        self._is_closed = False

    async def send(self, *command: EncodableT, asking: bool = False) -> Any:
        """asking: of a node of a cluster, about a key that is being moved to it.

        Raises `RedisError` and `OSError`.
        """
        packed = pack_command(command)  # type: ignore[arg-type]  # its stub takes a single word
        connection = self._open() or await self._connect()
        try:
            return await connection.send(packed, asking=asking)
        except NotConnected:  # the server has closed the connection: retry once
            return await (await self._connect()).send(packed, asking=asking)

    async def aclose(self) -> None:
        """Close the connection and open no other one; the client closes the rest."""
        self._is_closed = True
        async with self._dialling:  # a call that is opening the connection ends first
            connection = self._current
            self.disconnect()
            if connection is not None:
                await connection.wait_closed()

    def disconnect(self) -> None:
        """Close the connection; waiting calls retry on another one."""
        connection, self._current = self._current, None
        if connection is not None:
            connection.close()

    def _open(self) -> "_Connection | None":
        return None if self._current is None or self._current.is_over else self._current

    async def _connect(self) -> "_Connection":
        async with self._dialling:
            connection = self._open()
            if self._is_closed:
                raise NotConnected("the connection is closed")
            if connection is None:
                leased = await self._pool.get_connection()  # type: ignore[no-untyped-call]
                connection = self._current = _Connection(self._pool, leased)
            return connection


# The event loop knows its tasks weakly: without this, a connection that nobody has closed could be
# collected while it waits for a reply.
_LISTENING: set["asyncio.Task[None]"] = set()


class _Connection:
    """One connection until it ends; `_waiting` holds a future for each pending reply."""

    def __init__(self, pool: ConnectionPool, connection: AbstractConnection) -> None:
        connection.socket_timeout = None  # it assumes one call at a time on a connection
        self._pool = pool
        self._connection = connection
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._loop = asyncio.get_running_loop()
        self._listening = self._loop.create_task(self._listen())
        _LISTENING.add(self._listening)
        self._listening.add_done_callback(_LISTENING.discard)
        self.is_over = False

    async def send(self, packed: bytes, *, asking: bool) -> Any:
        if asking:  # it concerns the next command only, so both are sent together
            packed = _ASKING + packed
            unread = self._loop.create_future()
            unread.cancel()
            self._waiting.append(unread)
        reply = self._loop.create_future()
        self._waiting.append(reply)
        try:
            await self._connection.send_packed_command((packed,), check_health=False)
        except BaseException as error:  # the driver has closed the connection
            reply.cancel()
            self.close()
            if is_of_closed_transport(error):
                raise NotConnected("the connection has ended") from error
            raise
        try:
            return await reply
        finally:
            del reply  # an error's traceback holds this frame, which must not hold the error

    def close(self) -> None:
        self.is_over = True
        # In the next turn, after the task has begun: it releases the connection when it ends.
        self._loop.call_soon(self._listening.cancel)

    async def wait_closed(self) -> None:
        await asyncio.wait([self._listening])

    async def _listen(self) -> None:
        try:
            while True:
                try:
                    reply = await self._connection.read_response(timeout=math.inf)
                except ResponseError as error:
                    self._resolve_reply(None, error)
                else:
                    self._resolve_reply(reply, None)
        except (RedisError, OSError):
            pass  # the waiting calls fail below
        finally:
            self.is_over = True
            while self._waiting:
                self._resolve_reply(None, NotConnected("the connection has ended"))
            await self._connection.disconnect(nowait=True)
            await self._pool.release(self._connection)

    def _resolve_reply(self, reply: Any, error: RedisError | None) -> None:
        waiting = self._waiting.popleft()
        if waiting.done():  # the caller has given up
            return
        if error is None:
            waiting.set_result(reply)
        else:
            waiting.set_exception(error)
