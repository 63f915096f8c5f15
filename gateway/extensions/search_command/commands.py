"""`nearhit search`: the hits of a principal, directly from the index."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from common.command_errors import CommandError
from gateway.cli import common
from gateway.cli.common import AsJson, Subject, console

if TYPE_CHECKING:
    from gateway.extension import Settings
    from index.search.searcher import SearchResult

COMMANDS = typer.Typer()

Tenant = Annotated[str, typer.Option(help="The tenant.")]
_SHOWN = ("chunk_id", "document_id", "tenant", "source", "title", "text", "score", "start", "end")
Groups = Annotated[list[str] | None, typer.Option("--group", help="A group; repeat for more.")]


@COMMANDS.command(rich_help_panel="Documents and questions")
def search(
    query: Annotated[str, typer.Argument(help="The question.")],
    tenant: Tenant = "default",
    subject: Subject = common.SUBJECT,
    group: Groups = None,
    top_k: Annotated[int, typer.Option(help="Maximum number of hits.", min=1, max=100)] = 5,
    as_json: AsJson = False,
) -> None:
    """Show the hits that a principal would get, directly from the index.

    nearhit search "how many days of annual leave?" --subject ana --group sales
    """

    async def run(settings: "Settings") -> "SearchResult":
        return await _hits(settings, tenant, subject, group or [], query, top_k)

    result = common.run(run)
    if as_json:
        hits = [
            {name: getattr(hit, name) for name in _SHOWN} | {"scope": hit.scope_name}
            for hit in result.hits
        ]
        common.print_json({"hits": hits})
        return
    for rank, hit in enumerate(result.hits, start=1):
        console.print(f"[bold]{rank}. {escape(hit.title)}[/]  {hit.score:.3f}")
        place = hit.document_id if hit.tenant == tenant else f"{hit.document_id} of {hit.tenant}"
        console.print(f"[dim]{escape(place)} ({hit.scope_name})[/]", soft_wrap=True)
        console.print(hit.text, "", markup=False)
    if not result.hits:
        console.print("no hits that this principal may read")


async def _hits(
    settings: "Settings", tenant: str, subject: str, groups: Sequence[str], text: str, top_k: int
) -> "SearchResult":
    """The hits that a principal would get, without the cache."""
    from common.audit_actor import OPERATOR
    from gateway.cli import operations
    from gateway.extension import Reader, address_of, schemas
    from index.errors import TenantMissing
    from index.model import scope
    from index.model.form import is_blank
    from index.model.query import Query

    if is_blank(text):
        raise CommandError("the question is blank")
    subject = schemas.SUBJECT.validate_python(subject)
    groups = [schemas.GROUP.validate_python(group) for group in groups]
    async with operations.acting_services(settings) as services:
        try:
            receives_public = await services.stores.tenants.receives_public(tenant)
        except TenantMissing:
            raise CommandError(f"there is no tenant {tenant}") from None
        visible = scope.everything(
            tenant,
            subject,
            groups,
            receives_public=settings.public_documents and receives_public,
        )
        result = await services.search.searcher.search(visible, Query(text, top_k=top_k))
        reader = Reader(tenant, OPERATOR.subject, OPERATOR.key_id)
        shown = [address_of(tenant, hit.tenant, hit.document_id) for hit in result.hits]
        services.documents.read_log.documents(reader, shown)
        return result
