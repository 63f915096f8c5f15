"""`nearhit search`: the hits of a principal, directly from the index."""

import asyncio
from typing import Annotated

import typer
from rich.markup import escape

from gateway.cli import common
from gateway.cli.common import AsJson, Subject, console

Tenant = Annotated[str, typer.Option(help="The tenant.")]
_SHOWN = ("chunk_id", "document_id", "tenant", "source", "title", "text", "score", "start", "end")
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
