"""`nearhit search`: the hits of a principal, directly from the index."""

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gateway.cli import common
from gateway.cli.common import AsJson, Subject, console

if TYPE_CHECKING:  # slow to import, and `--help` does not need it
    from index.search.hits import Hit

Tenant = Annotated[str, typer.Option(help="The tenant.")]
Groups = Annotated[list[str] | None, typer.Option("--group", help="A group; repeat for more.")]


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
    with common.connected() as settings:
        from gateway.operator import operations

        result = asyncio.run(
            operations.search(settings, tenant, subject, group or [], query, top_k)
        )
    if as_json:
        common.print_json({"hits": [_hit_fields(hit) for hit in result.hits]})
        return
    for rank, hit in enumerate(result.hits, start=1):
        console.print(f"[bold]{rank}. {escape(hit.title)}[/]  {hit.score:.3f}")
        place = hit.document_id if hit.tenant == tenant else f"{hit.document_id} of {hit.tenant}"
        console.print(f"[dim]{escape(place)} ({hit.scope_name})[/]", soft_wrap=True)
        console.print(hit.text, "", markup=False)
    if not result.hits:
        console.print("no hits that this principal may read")


def _hit_fields(hit: "Hit") -> dict[str, object]:
    return {
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "tenant": hit.tenant,
        "scope": hit.scope_name,
        "source": hit.source,
        "title": hit.title,
        "text": hit.text,
        "score": hit.score,
        "start": hit.start,
        "end": hit.end,
    }
