"""Who may ratify a document, and withdraw that; as the changes that the writer makes.

An agent never ratifies what an agent of its own subject wrote, and nothing but claims.
"""

from collections.abc import Callable
from dataclasses import replace

from gateway.extension import (
    AuthenticatedRequest,
    document_update,
    full_scope,
    problems,
    utc_now,
)
from index.model.document import Document

Change = Callable[[Document | None], Document]


def ratification(caller: AuthenticatedRequest) -> Change:
    """The caller stands behind what is stored; nothing changes where somebody does already.

    A 404 `Problem` if the caller may not read the document, a 403 for the agents above.
    """
    at, subject = utc_now(), caller.principal.subject

    def change(stored: Document | None) -> Document:
        document = document_update.require_readable(caller, stored)
        if not full_scope(caller).admits(document.owner, document.readers):  # an admin's
            raise document_update.no_such_document()
        provenance = document.provenance
        if provenance.trust == "vouched":
            return document
        if caller.principal.agents and (provenance.by != "agent" or provenance.subject == subject):
            raise problems.forbidden(
                "An agent may only ratify what an agent of another subject wrote."
            )
        ratified = replace(provenance, ratified_by=subject, ratified_at=at)
        return replace(document, provenance=ratified)

    return change


def withdrawal(caller: AuthenticatedRequest) -> Change:
    """Nobody stands behind what is stored any more; its writer still does, if that is a person.

    A 404 `Problem` if the caller may not read the document, a 403 unless it is the person that
    ratified it, or an admin.
    """
    principal = caller.principal

    def change(stored: Document | None) -> Document:
        document = document_update.require_readable(caller, stored)
        provenance = document.provenance
        if provenance.ratified_by is None:
            return document
        is_own = provenance.ratified_by == principal.subject
        if principal.agents or not (is_own or document_update.is_admin(caller)):
            raise problems.forbidden("Only who ratified the document, or an admin, may withdraw.")
        withdrawn = replace(provenance, ratified_by=None, ratified_at=None)
        return replace(document, provenance=withdrawn)

    return change
