"""`nearhit curation`: the operator lists and resolves questions with low-confidence answers."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from gateway.cli import common
from gateway.cli.common import AsJson

if TYPE_CHECKING:
    from gateway.extension import Settings
    from gateway.extensions.curation.low_confidence_store import CurationRecord
    from index.postgres.database import Database

COMMANDS = typer.Typer()

_curation = typer.Typer(no_args_is_help=True, help="Questions with low-confidence answers.")
COMMANDS.add_typer(_curation, name="curation", rich_help_panel="Documents and questions")

Tenant = Annotated[str, typer.Option(help="The tenant.")]
ItemId = Annotated[str, typer.Argument(metavar="ITEM", help="An item's identifier, cur_….")]

_LISTED_MAX = 1_000


@_curation.command("list")
def list_curation(tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """List open questions, most frequent first.

    nearhit curation list --tenant acme --json
    """

    async def run(database: "Database") -> "list[CurationRecord]":
        from gateway.cli import operations
        from gateway.extensions.curation.low_confidence_store import LowConfidenceStore

        await operations.require_tenant(database, tenant)
        store = LowConfidenceStore(database)
        return await store.page(tenant, "open", after=None, limit=_LISTED_MAX)

    def cells(item: "CurationRecord") -> list[str]:
        best = [f"{hit['document_id']}  {hit['score']:.3f}" for hit in item.hits[:1]]
        return [item.item_id, f"{item.count:,}", "".join(best), item.question]

    items, names = common.run_on_database(run), ("item", "asked", "best hit", "question")
    common.print_rows(items, cells, names, "no open questions", as_json=as_json)


@_curation.command("resolve")
def resolve_curation(
    item: ItemId,
    answer: Annotated[str, typer.Option(help="The answer.")],
    question: Annotated[str | None, typer.Option(help="A better wording of the question.")] = None,
    reader: Annotated[
        list[str] | None,
        typer.Option(
            help="Reader token of the document; repeat for more. Default: the whole tenant."
        ),
    ] = None,
    tenant: Tenant = "default",
    as_json: AsJson = False,
) -> None:
    """Write a document from a question and its answer.

    nearhit curation resolve cur_5f0c --answer "Leave is 25 days a year."
    """
    body = {"answer": answer, "readers": tuple(reader or ("tenant",))}
    document_id = _resolve(item, tenant, body | ({"question": question} if question else {}))
    value = {"item": item, "document_id": document_id}
    common.print_result(f"written as {document_id}", value, as_json=as_json)


@_curation.command("dismiss")
def dismiss_curation(item: ItemId, tenant: Tenant = "default", as_json: AsJson = False) -> None:
    """Dismiss a question; it stays dismissed if it is asked again.

    nearhit curation dismiss cur_5f0c
    """
    _resolve(item, tenant, {"dismiss": True})
    value = {"item": item, "document_id": None}
    common.print_result(f"dismissed {item}", value, as_json=as_json)


def _resolve(item_id: str, tenant: str, fields: Mapping[str, object]) -> str | None:
    """Resolve or dismiss the item; the id of the document, None if dismissed."""

    async def run(settings: "Settings") -> str | None:
        from gateway.cli import operations
        from gateway.extension import CommandError, problems
        from gateway.extensions.curation import curation_services
        from gateway.extensions.curation.curation_endpoints import resolve
        from gateway.extensions.curation.curation_schemas import ResolveBody
        from index.model.provenance import OPERATOR

        body = ResolveBody.model_validate(fields)
        async with operations.acting_services(settings) as services:
            try:
                curation = curation_services.build(services, items_max=0)
                record, _ = await resolve(
                    curation, tenant, item_id, body, may_publish=True, author=OPERATOR
                )
            except problems.Problem as problem:
                raise CommandError(problem.detail) from None
        return record.document_id

    return common.run(run)
