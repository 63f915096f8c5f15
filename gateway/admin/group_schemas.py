"""The response bodies of groups."""

from pydantic import Field

from gateway.schemas import Body
from index.model.conditions.times import Instant


class GroupAnswer(Body):
    group: str
    members: int = Field(description="how many subjects are members; keys may name it as well")


class GroupsAnswer(Body):
    groups: tuple[GroupAnswer, ...]
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class MemberAnswer(Body):
    subject: str
    added_at: Instant


class MembersAnswer(Body):
    members: tuple[MemberAnswer, ...]
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")
