"""PostgreSQL and Redis over TLS, with certificates that are verified."""

import asyncio
import socket
import ssl
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing, suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qs, urlsplit, urlunsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests import system_programs
from tests.gateway.support.commands import refused, succeeds

pytestmark = [pytest.mark.anyio, pytest.mark.blocking, pytest.mark.isolated, pytest.mark.slow]

SSL_REQUEST = (8).to_bytes(4) + (80_877_103).to_bytes(4)  # by PostgreSQL's documentation


def write_certificate(folder: Path) -> None:
    """A certificate for 127.0.0.1 that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "server.pem").write_bytes(certificate.public_bytes(pem))
    private = key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    for owner in ("postgres", "redis"):
        file = folder / f"{owner}.key"
        file.touch(mode=0o600)
        file.write_bytes(private)


@asynccontextmanager
async def redis_with_tls(certificates: Path) -> AsyncIterator[str]:
    """A server that accepts nothing but TLS; its URL, without a certificate to trust."""
    program = system_programs.require("redis-server")  # the wheel's Valkey has no TLS
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    options = {
        "port": "0",
        "tls-port": str(port),
        "tls-cert-file": str(certificates / "server.pem"),
        "tls-key-file": str(certificates / "redis.key"),
        "tls-auth-clients": "no",
        "save": "",
        "dir": str(certificates),
    }
    arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(program, *arguments, stdout=DEVNULL)
    try:
        async with asyncio.timeout(60):
            while not await _accepts(port):
                await asyncio.sleep(0.01)
        yield f"rediss://127.0.0.1:{port}"
    finally:
        process.kill()
        await process.wait()


async def _accepts(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except ConnectionError:
        return False
    writer.close()
    return True


@asynccontextmanager
async def postgres_with_tls(certificates: Path, database_url: str) -> AsyncIterator[str]:
    """The same database behind a server that accepts nothing but PostgreSQL's TLS; its URL.

    The wheel's PostgreSQL is built without TLS, and Debian has no recent pgvector.
    """
    parts = urlsplit(database_url)
    (folder,) = parse_qs(parts.query)["host"]
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificates / "server.pem", certificates / "postgres.key")

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        with closing(writer), suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
            if await reader.readexactly(len(SSL_REQUEST)) != SSL_REQUEST:
                return
            writer.write(b"S")
            await writer.start_tls(tls)
            to, of = await asyncio.open_unix_connection(f"{folder}/.s.PGSQL.5432")
            with closing(of):
                await asyncio.wait(
                    [asyncio.create_task(pipe(reader, of)), asyncio.create_task(pipe(to, writer))],
                    return_when=asyncio.FIRST_COMPLETED,
                )

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        netloc = f"{parts.username}:{parts.password}@127.0.0.1:{port}"
        yield urlunsplit(parts._replace(netloc=netloc, query="sslmode=verify-full"))


async def pipe(reader: StreamReader, writer: StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()


async def test_both_servers_are_used_over_tls_and_refused_with_another_authority(
    tmp_path: Path, database_url: str
) -> None:
    folder, elsewhere = tmp_path / "servers", tmp_path / "elsewhere"
    for each in (folder, elsewhere):
        each.mkdir()
        write_certificate(each)
    trusted, other = folder / "server.pem", elsewhere / "server.pem"
    async with (
        postgres_with_tls(folder, database_url) as postgres,
        redis_with_tls(folder) as redis,
    ):

        def environment(for_postgres: Path, for_redis: Path) -> dict[str, str]:
            return {
                "NEARHIT_DATABASE_URL": f"{postgres}&sslrootcert={for_postgres}",
                "NEARHIT_REDIS_URL": f"{redis}?ssl_ca_certs={for_redis}",
                "NEARHIT_REDIS_TIMEOUT_S": "5",
            }

        line = ("config", "check", "--connect")
        both = await succeeds(environment(trusted, trusted), *line)
        no_postgres = await refused(environment(other, trusted), *line)
        no_redis = await refused(environment(trusted, other), *line)

    assert "PostgreSQL answers" in both
    assert "Redis answers" in both
    assert "certificate" in no_postgres.lower()
    assert "Redis did not answer" in no_redis
