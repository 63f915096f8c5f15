"""`nearhit migrate`: brings the database's schema to this version before a gateway starts."""

import asyncio
from typing import Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson

_PENDING = 1


def migrate(
    check: Annotated[
        bool, typer.Option("--check", help="Only show what is missing; exit with 1 if any is.")
    ] = False,
    merge_spellings: Annotated[
        bool,
        typer.Option(
            "--merge-spellings",
            help="Merge subjects, and groups, that differ by spelling alone: by case, for example.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Apply the schema's missing migrations, as each start of a gateway or worker does.

    Run it once before the first gateway of a new version starts, so that a
    long migration delays no start. Several may run at once; one applies, the
    others wait. Subjects and groups are brought to one spelling; where two
    would become one, nothing is changed and the list is shown. Run it again
    after the last process with another setting or version has stopped.

        nearhit migrate --check || nearhit migrate
    """
    with common.connected() as settings:
        from index.postgres.setup import migrate as migrations
        from index.postgres.setup import shipped_migrations
        from index.postgres.setup.identifier_spellings import IdentifierPolicy

        assert settings.database_url is not None, "`servers` sets it"
        url, shipped = settings.database_url.get_secret_value(), shipped_migrations.shipped()
        do = migrations.pending if check else migrations.migrate
        policy = IdentifierPolicy(settings.identifier_case, merge_spellings, looks_again=True)
        names = asyncio.run(
            do(
                url,
                shipped,
                allow_old_pgvector=settings.allow_old_pgvector,
                identifiers=policy,
            )
        )
    done, latest = "missing" if check else "applied", shipped[-1].name
    text = "\n".join(f"{done} {name}" for name in names)
    value = {done: names, "latest": latest}
    common.print_result(text or f"the schema is up to date: {latest}", value, as_json=as_json)
    raise typer.Exit(_PENDING if check and names else 0)
