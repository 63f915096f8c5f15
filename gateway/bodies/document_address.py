"""The address of a document in one text, for clients that know a single identifier.

A document of the caller's own tenant is addressed by its identifier. One of another tenant is
addressed by `urn:nearhit:public:TENANT:IDENTIFIER`, because two tenants may use one identifier.

Pure.
"""

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import Field, ValidationError

from gateway.bodies import schemas
from index.model.document import DOCUMENT_ID_CHARACTERS_MAX, OneLine

PUBLIC_PREFIX = "urn:nearhit:public:"
_TENANT_CHARACTERS_MAX = 63
_CHARACTERS_MAX = len(PUBLIC_PREFIX) + _TENANT_CHARACTERS_MAX + 1 + DOCUMENT_ID_CHARACTERS_MAX

Address: TypeAlias = Annotated[str, Field(min_length=1, max_length=_CHARACTERS_MAX), OneLine]


def address_of(own_tenant: str, tenant: str, document_id: str) -> str:
    """The address of a document for a caller of `own_tenant`."""
    if tenant == own_tenant and not document_id.startswith(PUBLIC_PREFIX):
        return document_id
    return f"{PUBLIC_PREFIX}{tenant}:{document_id}"


def address_of_hit(own_tenant: str, hit: Mapping[str, Any]) -> str:
    """The address of a hit's document. hit: an element of `hits` in a search answer."""
    return address_of(own_tenant, hit.get("tenant", own_tenant), hit["document_id"])


def parse_address(own_tenant: str, address: str) -> tuple[str, str]:
    """The tenant and the document's identifier."""
    if address.startswith(PUBLIC_PREFIX):
        tenant, colon, document_id = address.removeprefix(PUBLIC_PREFIX).partition(":")
        if colon and document_id and _is_tenant(tenant):
            return tenant, document_id
    return own_tenant, address


def _is_tenant(text: str) -> bool:
    try:
        schemas.TENANT.validate_python(text)
    except ValidationError:
        return False
    return True
