"""Whose things a caller sees and changes that belong to a subject and are no documents."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Maker:
    """Who has made what a caller sees: jobs, files, tokens and the like.

    subject: None for everything of the tenant.
    token_id: of those only what was made with this token or with tokens made from it; None for all.
    """

    tenant: str
    subject: str | None
    token_id: str | None = None
