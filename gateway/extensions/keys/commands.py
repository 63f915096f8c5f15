"""`nearhit key`: the operator creates, lists, rotates and revokes keys of all tenants."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson, Subject, format_instant

if TYPE_CHECKING:
    from index.postgres.database import Database
    from index.tenants.keys import ShownKey

COMMANDS = typer.Typer()

_keys = typer.Typer(no_args_is_help=True, help="API keys.")
COMMANDS.add_typer(_keys, name="key", rich_help_panel="Tenants and keys")

KeyId = Annotated[str, typer.Argument(metavar="KEY", help="A key's identifier, key_….")]

_LISTED_MAX = 10_000
_LAST_OF_DAY = timedelta(hours=23, minutes=59, seconds=59)


@_keys.command("create")
def create_key(
    tenant: Annotated[str, typer.Option(help="The key's tenant.")] = "default",
    subject: Subject = common.SUBJECT,
    group: Annotated[
        list[str] | None, typer.Option(help="A group of the key; repeat for more.")
    ] = None,
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="Role: reader, writer, admin, publisher or provisioner; repeat for more."
        ),
    ] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="Scope: private, shared, tenant or public; repeat for more."),
    ] = None,
    name: Annotated[str, typer.Option(help="A label for people.")] = "",
    expires: Annotated[
        datetime | None,
        typer.Option(
            formats=["%Y-%m-%d"], help="The last day on which it works, in UTC; without it, always."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Create an API key and print it; it is never shown again.

    nearhit key create --tenant acme --subject ana --role reader --expires 2027-12-31
    """
    with common.connected() as settings:
        from gateway.cli import operations
        from gateway.extensions.keys.key_schemas import KeyBody

        if role == ["publisher"]:
            raise CommandError("a publisher alone may call nothing; add --role writer")
        body: dict[str, Any] = {
            "tenant": tenant,
            "subject": subject,
            "groups": tuple(group or ()),
            "name": name,
        }
        body |= {"roles": tuple(role)} if role else {}
        body |= {"scopes": tuple(scope)} if scope else {}
        if expires is not None:
            body |= {"expires_at": expires.replace(tzinfo=UTC) + _LAST_OF_DAY}
        key, record = KeyBody.model_validate(body).new_key()
        asyncio.run(operations.store_key(settings, tenant, record))
    common.print_result(key, {"key": key}, as_json=as_json)


@_keys.command("list")
def list_keys(
    tenant: Annotated[str, typer.Option(help="The tenant.")] = "default",
    as_json: AsJson = False,
) -> None:
    """List a tenant's keys, including revoked ones, and when each was last used.

    nearhit key list --tenant acme --json
    """

    async def run(database: "Database") -> "list[ShownKey]":
        from gateway.cli import operations
        from index.tenants.keys import KeyStore

        await operations.require_tenant(database, tenant)
        return await KeyStore(database).page(tenant, after="", limit=_LISTED_MAX)

    def cells(key: "ShownKey") -> list[str]:
        lists = [", ".join(names) for names in (key.groups, key.roles, key.scopes)]
        times = [format_instant(at) for at in (key.expires_at, key.last_used_at)]
        state = "revoked" if key.revoked_at else ""
        return [key.key_id, key.name, key.subject, *lists, *times, state]

    names = ("key", "name", "subject", "groups", "roles", "scopes", "expires", "last used", "state")
    common.print_rows(common.run_on_database(run), cells, names, "no keys", as_json=as_json)


@_keys.command("rotate")
def rotate_key(
    key: KeyId,
    overlap_s: Annotated[
        int, typer.Option(help="Seconds for which the old key stays valid.", min=0)
    ] = 86_400,
    as_json: AsJson = False,
) -> None:
    """Replace a key by a new one for the same holder and print it; it is never shown again.

    nearhit key rotate key_5f0c --overlap-s 3600
    """

    async def run(database: "Database") -> str:
        from gateway.extension import key_digest, make_secret, new_id, utc_now
        from index.tenants.keys import KeyStore

        secret, until = make_secret(), utc_now() + timedelta(seconds=overlap_s)
        keys, new_key_id = KeyStore(database), new_id("key")
        if not await keys.rotate(None, key, new_key_id, key_digest(secret), until):
            raise CommandError(f"there is no valid key {key}")
        return secret

    secret = common.run_on_database(run)
    common.print_result(secret, {"key": secret}, as_json=as_json)


@_keys.command("revoke")
def revoke_key(key: KeyId, as_json: AsJson = False) -> None:
    """Revoke a key and all tokens made with it. It holds from the next request on.

    nearhit key revoke key_5f0c
    """

    async def run(database: "Database") -> None:
        from index.tenants.keys import KeyStore

        if not await KeyStore(database).revoke(None, key):
            raise CommandError(f"there is no valid key {key}")

    common.run_on_database(run)
    common.print_result(f"revoked {key}", {"revoked": key}, as_json=as_json)
