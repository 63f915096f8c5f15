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


class Line:
    """Dials when it is first asked, and after each end; ends with the client.

    Calls may take as long as they like: whoever makes one bounds it.
    """

    def __init__(self, client: Redis) -> None:
        self._pool = client.connection_pool
        self._talk: _Talk | None = None
        self._dialling = asyncio.Lock()

    async def ask(self, *command: EncodableT) -> Any:
        """Raises `RedisError` and `OSError`."""
        packed = pack_command(command)  # type: ignore[arg-type]  # typed as if all were one word
        talk = self._open() or await self._dial()
        try:
            return await talk.ask(packed)
        except NotConnected:  # the server has closed it meanwhile: once more
            return await (await self._dial()).ask(packed)

    def hang_up(self) -> None:
        """Believe the connection no longer: whoever waits asks once more, on another one."""
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.end()

    def _open(self) -> "_Talk | None":
        return None if self._talk is None or self._talk.is_over else self._talk

    async def _dial(self) -> "_Talk":
        async with self._dialling:
            talk = self._open()
            if talk is None:
                leased = await self._pool.get_connection()  # type: ignore[no-untyped-call]
                talk = self._talk = _Talk(self._pool, leased)
            return talk


class _Talk:
    """From dialling to the end; `_waiting` holds a future for each answer to come."""

    def __init__(self, pool: ConnectionPool, connection: AbstractConnection) -> None:
        connection.socket_timeout = None  # it is for one call that has a connection to itself
        self._pool = pool
        self._connection = connection
        self._waiting: deque[asyncio.Future[Any]] = deque()
        self._loop = asyncio.get_running_loop()
        self._listening = self._loop.create_task(self._listen())
        self.is_over = False

    async def ask(self, packed: bytes) -> Any:
        answer = self._loop.create_future()
        self._waiting.append(answer)
        try:
            await self._connection.send_packed_command((packed,), check_health=False)
        except BaseException as error:  # which the driver has closed the connection for
            answer.cancel()
            self.end()
            if isinstance(error, RuntimeError):  # uvloop's, of a transport that has just closed
                raise NotConnected("the connection has ended") from error
            raise
        return await answer

    def end(self) -> None:
        self.is_over = True
        # Not before it has begun: its last act is to free the connection.
        self._loop.call_soon(self._listening.cancel)

    async def _listen(self) -> None:
        try:
            while True:
                try:
                    told = await self._connection.read_response(timeout=math.inf)
                except ResponseError as refusal:
                    self._hand_on(None, refusal)
                else:
                    self._hand_on(told, None)
        except (RedisError, OSError):
            pass  # those who wait are told below
        finally:
            self.is_over = True
            while self._waiting:
                self._hand_on(None, NotConnected("the connection has ended"))
            await self._connection.disconnect(nowait=True)
            await self._pool.release(self._connection)

    def _hand_on(self, told: Any, error: RedisError | None) -> None:
        waiting = self._waiting.popleft()
        if waiting.done():  # given up
            return
        if error is None:
            waiting.set_result(told)
        else:
            waiting.set_exception(error)
