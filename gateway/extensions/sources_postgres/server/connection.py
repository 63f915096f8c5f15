"""Connections to followed servers: to addresses that may be asked, and with verified TLS.

The operator lists the servers, and what one sends is believed to fit into memory: the driver has
no limit on a message.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from typing import Any, Literal

import asyncpg

from gateway.extensions._web.addresses import AddressPolicy
from gateway.extensions._web.errors import Unfetchable
from gateway.extensions._web.resolver import Resolver
from gateway.extensions.sources_postgres.postgres_schemas import PostgresSource
from gateway.extensions.sources_postgres.server.errors import (
    ServerUnreachable,
    SlotLost,
    SourceMisconfigured,
)
from index.postgres.functions.function_roles import Connection

# Starting values, not measured.
CONNECT_S_MAX = 15.0
STATEMENT_S_MAX = 60.0
_SETTINGS = {
    "application_name": "nearhit",
    "search_path": "",  # no name of ours leads to an object of theirs
    "idle_in_transaction_session_timeout": "0",  # a copy waits for what it writes
    "statement_timeout": "0",  # each statement has a limit here
}


@asynccontextmanager
async def connected(
    tenant: str, config: PostgresSource, password: str, policy: AddressPolicy
) -> AsyncIterator[Connection]:
    """A connection to the server. Raises `FollowingFailed`, also for errors within the block."""
    if config.tls == "off":
        policy = replace(policy, allows_public=False)
    with server_errors():
        addresses, tls = await asyncio.to_thread(_prepared, tenant, config, policy)
        connection = await asyncpg.connect(
            host=addresses,
            port=config.port,
            user=config.user,
            password=password,  # if it were None, the driver would read this machine's
            database=config.database,
            ssl=tls,
            timeout=CONNECT_S_MAX,
            command_timeout=STATEMENT_S_MAX,
            statement_cache_size=0,  # their tables change
            server_settings=_SETTINGS,
        )
        try:
            yield connection
        finally:
            connection.terminate()


@contextmanager
def server_errors() -> Iterator[None]:
    """What the driver raises, as `FollowingFailed`."""
    try:
        yield
    except Unfetchable as error:
        raise SourceMisconfigured(str(error)) from None
    except TimeoutError:
        raise ServerUnreachable("The server does not answer in time.") from None
    except asyncpg.ObjectNotInPrerequisiteStateError as error:  # max_slot_wal_keep_size
        raise SlotLost(_line(error)) from None
    except (asyncpg.PostgresConnectionError, asyncpg.OperatorInterventionError) as error:
        raise ServerUnreachable(f"The server can't be reached: {_line(error)}") from None
    except asyncpg.ObjectInUseError:
        raise ServerUnreachable("Another connection still reads the slot.") from None
    except asyncpg.InsufficientPrivilegeError as error:
        raise SourceMisconfigured(
            f"The role lacks a right: {_line(error)}. It needs SELECT on the relation and on each "
            "table of `through`, USAGE on their schemas, and REPLICATION."
        ) from None
    except asyncpg.PostgresError as error:
        raise SourceMisconfigured(f"The server says: {_line(error)}") from None
    except (asyncpg.InterfaceError, asyncpg.InternalClientError, OSError) as error:
        raise ServerUnreachable(
            f"The server can't be reached: {_line(error) or type(error).__name__}"
        ) from None


def _line(error: Exception) -> str:
    """The first line; PostgreSQL quotes values of rows in details alone, which are left out."""
    return str(error).partition("\n")[0].rstrip(".")


class _NamedContext(ssl.SSLContext):
    """Verifies the name of the source, although the driver connects to an address."""

    server_name = ""

    def wrap_bio(self, *arguments: Any, **named: Any) -> ssl.SSLObject:
        return super().wrap_bio(*arguments, **named | {"server_hostname": self.server_name})


def _prepared(
    tenant: str, config: PostgresSource, policy: AddressPolicy
) -> tuple[list[str], ssl.SSLContext | Literal[False]]:
    """Addresses that may be asked, and what verifies them; does blocking I/O."""
    host = config.host.strip("[]")
    addresses = Resolver(policy, tenant=tenant).resolve(host, config.port)
    if config.tls == "off":
        return addresses, False
    context = _NamedContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_default_certs()
    context.server_name = host
    return addresses, context
