"""The response bodies of groups."""

from pydantic import Field

from gateway.extension import Body
from index.model.conditions.times import Instant


class GroupAnswer(Body):
    group: str = Field(description="identifier of the group, without `group:`")
    members: int = Field(description="how many subjects are members; keys may name it as well")


class GroupsAnswer(Body):
    groups: tuple[GroupAnswer, ...] = Field(description="groups, by identifier")
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")


class MemberAnswer(Body):
    subject: str
    added_at: Instant = Field(description="when the subject became a member")


class MembersAnswer(Body):
    members: tuple[MemberAnswer, ...]
    cursor: str | None = Field(description="the `cursor` of the next page; null on the last page")
