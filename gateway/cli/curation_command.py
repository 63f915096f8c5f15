"""`nearhit curation`: questions that could not be answered well, as the operator settles them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table

from gateway.cli import common
from gateway.cli.common import console
from gateway.errors import CommandError
from gateway.settings import Settings

if TYPE_CHECKING:
    from index.tenants.curation import CurationRecord

commands = typer.Typer(no_args_is_help=True, help="Questions without a sure answer.")

Tenant = Annotated[str, typer.Option(help="Their tenant.")]
ItemId = Annotated[str, typer.Argument(metavar="ITEM", help="An item's identifier, cur_….")]

_LISTED_MAX = 1_000


@commands.command("list")
def list_curation(tenant: Tenant = "default") -> None:
    """List what is open, the most frequent question first."""

    async def run(settings: Settings) -> "list[CurationRecord]":
        from gateway.operator import operations
        from index.tenants.curation import LowConfidenceStore

        async with operations.open_database(settings) as database:
            return await LowConfidenceStore(database).page(
                tenant, "open", after=None, limit=_LISTED_MAX
            )

    table = Table("item", "asked", "best hit", "question")
    for item in common.run(run):
        best = item.hits[0] if item.hits else None
        table.add_row(
            item.item_id,
            f"{item.count:,}",
            "" if best is None else escape(f"{best['document_id']}  {best['score']:.3f}"),
            escape(item.question),
        )
    console.print(table if table.row_count else "nothing is open")


@commands.command("resolve")
def resolve_curation(
    item: ItemId,
    answer: Annotated[str, typer.Option(help="What is to be answered.")],
    question: Annotated[
        str | None, typer.Option(help="In better words than it was asked in.")
    ] = None,
    reader: Annotated[
        list[str] | None,
        typer.Option(help="Who may read it; repeat for more. The whole tenant if absent."),
    ] = None,
    tenant: Tenant = "default",
) -> None:
    """Make a document of a question and its answer."""
    body = {"answer": answer, "readers": tuple(reader or ("tenant",))}
    document_id = _settle(item, tenant, body | ({"question": question} if question else {}))
    console.print(f"written as {document_id}", markup=False)


@commands.command("dismiss")
def dismiss_curation(item: ItemId, tenant: Tenant = "default") -> None:
    """Let a question be, also when it is asked again."""
    _settle(item, tenant, {"dismiss": True})
    console.print(f"dismissed {item}", markup=False)


def _settle(item_id: str, tenant: str, told: Mapping[str, object]) -> str | None:
    """The document that was written, if one was."""

    async def run(settings: Settings) -> str | None:
        from gateway.curation.curation_endpoints import settle
        from gateway.curation.curation_schemas import ResolveBody
        from gateway.operator import operations
        from gateway.problems import Problem

        body = ResolveBody.model_validate(told)
        async with operations.services(settings) as opened:
            try:
                settled = await settle(opened.curation, tenant, item_id, body)
            except Problem as problem:
                raise CommandError(problem.detail) from None
        return settled.document_id

    return common.run(run)
