"""`nearhit backup` and `nearhit restore`, which ends all answers that were cached before."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson
from gateway.extensions._commands import atomic_file

COMMANDS = typer.Typer()


@COMMANDS.command(rich_help_panel="Copies")
def backup(
    file: Annotated[Path, typer.Argument(help="The file to write.", dir_okay=False)],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Replace the file if it exists, once the new one is whole."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write all that Nearhit stores, of one instant, to a file; searches and writers keep running.

    The file is a dump in pg_dump's custom format, readable by its owner alone. It appears under its
    name once it is complete and on disk; a run that fails leaves an existing file as it is.

        nearhit backup nearhit.dump --replace
    """
    with common.connected() as settings:
        from gateway.extension import CommandError
        from gateway.extensions.backup import dumps
        from index.postgres.setup import own_objects

        assert settings.database_url is not None
        url = settings.database_url.get_secret_value()
        if file.exists() and not replace:
            raise CommandError(f"{file} exists: choose another name, or use --replace")
        if not file.absolute().parent.is_dir():
            raise CommandError(f"{file.absolute().parent} is not a folder")
        with atomic_file.writing(file, replace=replace) as (part, written):
            present = asyncio.run(own_objects.read(url))
            dumps.write(url, present, part, written)
            size_bytes = part.stat().st_size
    value = {"file": str(file), "bytes": size_bytes, "left_out": present.of_others}
    text = f"backed up {size_bytes / 1e6:,.1f} MB to {file}{_without(present.of_others)}"
    common.print_result(text, value, as_json=as_json)


@COMMANDS.command(rich_help_panel="Copies")
def restore(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A file of `nearhit backup`, or another dump in pg_dump's custom format. Omit it "
            "if the database was restored by other means: then only the caches are invalidated.",
            exists=True,
            dir_okay=False,
        ),
    ] = None,
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Drop the present content, in one transaction."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Restore a dump of pg_dump and invalidate all cached answers.

    Keys, tokens and subjects that had ended in the replaced database stay so; all else, such as
    members and readers, is as in the dump.

    Gateways may keep running: they answer with 503 until the restore has ended.

        nearhit restore nearhit.dump --replace
    """
    with common.connected() as settings:
        from gateway.extensions.backup import dumps, restored_database
        from index.postgres.setup.identifier_spellings import IdentifierPolicy

        assert settings.database_url is not None
        url = settings.database_url.get_secret_value()
        left_out: Sequence[str] = ()
        stay: Sequence[str] = ()
        if file is not None:
            dump = dumps.read(file)
            target = asyncio.run(restored_database.prepare(url, dump.needs, replace=replace))
            dumps.restore(url, dump, target.begin, target.end)
            left_out, stay = dump.left_out, target.of_others
        asyncio.run(restored_database.finish(url, IdentifierPolicy(settings.identifier_case)))
    restored = None if file is None else str(file)
    value = {"file": restored, "restored": True, "left_out": left_out, "stay": stay}
    text = (
        f"restored {file}{_without(left_out)}" if file else "nothing restored, as no file is named"
    )
    if stay:
        text += f"; in the database stay {', '.join(stay)}"
    text += "; all earlier cached answers are invalid"
    common.print_result(text, value, as_json=as_json)


def _without(left_out: Sequence[str]) -> str:
    return f" without what is not Nearhit's: {', '.join(left_out)}" if left_out else ""
