"""What a caller sees and changes of what its subject has made beside documents.

This is the one rule for jobs, tokens and what extensions store for callers.
"""

from index.model.scope import Maker
from index.tenants.principals import Principal


def maker_of(principal: Principal) -> Maker:
    """What the caller sees: a key and a web token all of its subject, a token its own part.

    A token may be narrower than its subject and in other hands. It does not matter how narrow:
    a token that was given away shows nothing that was made without it.
    """
    return Maker(
        principal.tenant, principal.subject, principal.key_id if principal.is_token else None
    )


def maker_for_admin(principal: Principal) -> Maker:
    """As `maker_of`, and for the role admin everything of the tenant."""
    return Maker(principal.tenant, None) if "admin" in principal.roles else maker_of(principal)
