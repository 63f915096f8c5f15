"""OpenFGA, whose relation tuples say who is in which group and who reads which document."""

import re
from typing import Self
from urllib.parse import urlsplit

from pydantic import BaseModel, Field, PositiveFloat, SecretStr, field_validator, model_validator

from gateway.extension import listed

_STORE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_TYPE = re.compile(r"[^:#@\s]{1,254}")
_RELATION = re.compile(r"[^:#@\s]{1,254}#[^:#@\s]{1,50}")


class OpenfgaSettings(BaseModel):
    """OpenFGA."""

    url: str | None = Field(
        None,
        description="URL of OpenFGA's HTTP API, whose relation tuples the worker follows; "
        "unset: none",
    )
    token: SecretStr | None = Field(
        None, description="OpenFGA's API token, sent as a bearer token; unset: none is sent"
    )
    stores: str | None = Field(
        None,
        description="comma-separated stores, each with the tenant whose groups and documents its "
        "tuples concern: `STORE=TENANT`",
    )
    user_type: str = Field("user", description="type of the objects that are subjects here")
    group_relation: str = Field(
        "group#member",
        description="relation whose tuples are memberships: a user, or a nested group, is a member "
        "of the group with the object's identifier",
    )
    reader_relations: str = Field(
        "document#viewer",
        description="comma-separated relations, all of one type of objects, whose tuples make a "
        "reader of the document with the object's identifier",
    )
    poll_s: PositiveFloat = Field(1.0, description="seconds between two looks at a store's changes")

    def tenants(self) -> dict[str, str]:
        """The tenant of each store; empty unless OpenFGA is configured."""
        return {} if self.url is None else _tenants_by_store(self.stores)

    @field_validator("url")
    @classmethod
    def _check_url(cls, text: str | None) -> str | None:
        if text is not None:
            parts = urlsplit(text)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
                raise ValueError("must be http://HOST or https://HOST, without a user name")
        return text

    @field_validator("stores")
    @classmethod
    def _check_stores(cls, text: str | None) -> str | None:
        _tenants_by_store(text)
        return text

    @field_validator("user_type")
    @classmethod
    def _check_type(cls, text: str) -> str:
        if not _TYPE.fullmatch(text):
            raise ValueError("must be the name of a type, such as user")
        return text

    @field_validator("group_relation", "reader_relations")
    @classmethod
    def _check_relations(cls, text: str) -> str:
        parts = listed(text)
        if not parts or not all(_RELATION.fullmatch(part) for part in parts):
            raise ValueError("must be TYPE#RELATION, such as group#member")
        if len({part.partition("#")[0] for part in parts}) > 1:
            raise ValueError("must be relations of one type, so that no two objects have one name")
        return text

    @model_validator(mode="after")
    def _has_stores(self) -> Self:
        if self.url is not None and not self.stores:
            raise ValueError("NEARHIT_OPENFGA_URL needs NEARHIT_OPENFGA_STORES, as STORE=TENANT")
        if len(listed(self.group_relation)) != 1:
            raise ValueError("NEARHIT_OPENFGA_GROUP_RELATION must be one relation")
        return self


def _tenants_by_store(text: str | None) -> dict[str, str]:
    """Raises `ValueError`, also for a store of two tenants, or a tenant of two stores."""
    tenants: dict[str, str] = {}
    for part in listed(text):
        store, equals, tenant = (item.strip() for item in part.partition("="))
        if not (_STORE_ID.fullmatch(store) and equals and tenant):
            raise ValueError(f"must be STORE=TENANT, separated by commas; {part} is not")
        if store in tenants or tenant in tenants.values():
            raise ValueError(f"must name each store and each tenant once; {part} repeats one")
        tenants[store] = tenant
    return tenants
