"""One connection to Redis that all calls share: what each is answered comes in their order.

To lease a connection for each call takes ten times as much of the processor (60 against 6 µs).
What is long does not belong here: whatever is asked after it has to wait.
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


class PipelinedConnection:
    """Dials when it is first asked, and after each end; ends with the client.

    Calls may take as long as they like: whoever makes one bounds it.
    """

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._talk: _Connection | None = None
        self._dialling = asyncio.Lock()

    async def send(self, *command: EncodableT) -> Any:
        """Raises `RedisError` and `OSError`."""
        packed = pack_command(command)  # type: ignore[arg-type]  # typed as if all were one word
        talk = self._open() or await self._connect()
        try:
            return await talk.send(packed)
        except NotConnected:  # the server has closed it meanwhile: once more
            return await (await self._connect()).send(packed)

    def disconnect(self) -> None:
        """Believe the connection no longer: whoever waits asks once more, on another one."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.close()

    def _open(self) -> "_Connection | None":
        return None if self._talk is None or self._talk.is_over else self._talk

    async def _connect(self) -> "_Connection":
        async with self._dialling:
            talk = self._open()
            if talk is None:
                leased = await self._pool.get_connection()  # type: ignore[no-untyped-call]
                talk = self._talk = _Connection(self._pool, leased)
            return talk


class _Connection:
    """From dialling to the end; `_waiting` holds a future for each answer to come."""

    def __init__(self, pool: ConnectionPool, connection: AbstractConnection) -> None:
        connection.socket_timeout = None  # it is for one call that has a connection to itself
        self._pool = pool
        self._connection = connection
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._loop = asyncio.get_running_loop()
        self._listening = self._loop.create_task(self._listen())
        self.is_over = False

    async def send(self, packed: bytes) -> Any:
        answer = self._loop.create_future()
        self._waiting.append(answer)
        try:
            await self._connection.send_packed_command((packed,), check_health=False)
        except BaseException as error:  # which the driver has closed the connection for
            answer.cancel()
            self.close()
            if isinstance(error, RuntimeError):  # uvloop's, of a transport that has just closed
                raise NotConnected("the connection has ended") from error
            raise
        return await answer

    def close(self) -> None:
        self.is_over = True
        # Not before it has begun: its last act is to free the connection.
        self._loop.call_soon(self._listening.cancel)

    async def _listen(self) -> None:
        try:
            while True:
                try:
                    told = await self._connection.read_response(timeout=math.inf)
                except ResponseError as refusal:
                    self._resolve_reply(None, refusal)
                else:
                    self._resolve_reply(told, None)
        except (RedisError, OSError):
            pass  # those who wait are told below
        finally:
            self.is_over = True
            while self._waiting:
                self._resolve_reply(None, NotConnected("the connection has ended"))
            await self._connection.disconnect(nowait=True)
            await self._pool.release(self._connection)

    def _resolve_reply(self, told: Any, error: RedisError | None) -> None:
        waiting = self._waiting.popleft()
        if waiting.done():  # given up
            return
        if error is None:
            waiting.set_result(told)
        else:
            waiting.set_exception(error)
