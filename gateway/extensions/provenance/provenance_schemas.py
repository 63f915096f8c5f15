"""The bodies of ratifications, and of what a tenant holds in quarantine."""

from typing import Literal

from pydantic import Field

from gateway.extension import Body, with_example
from index.model.identifiers import Readers


class RatifyBody(Body):
    """Whether the caller stands behind the document."""

    ratified: bool = Field(
        True, description="false: withdraw a ratification, as who made it or as an admin"
    )


class QuarantineBody(Body):
    """What of agents' writing is held until somebody ratifies it."""

    model_config = with_example(holds="web", readers=["group:reviewers"])

    holds: Literal["nothing", "web", "agents"] = Field(
        description="`nothing`; `web`: what agents write with a web address as `uri`; `agents`: "
        "all that agents write. It counts from the next write on"
    )
    readers: Readers = Field(
        (), description="who finds what is held, beside its owner, until it is ratified"
    )
